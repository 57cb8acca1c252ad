export default { engineName: 'FNV-1a' };
