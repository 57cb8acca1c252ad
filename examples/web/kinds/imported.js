export const word = 'module';
