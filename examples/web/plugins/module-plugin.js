import { register } from './module-core.js';
register('spelling');
