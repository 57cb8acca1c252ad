export const text = "The first text.";
