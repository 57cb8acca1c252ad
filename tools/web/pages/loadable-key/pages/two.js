export const text = "The second text.";
