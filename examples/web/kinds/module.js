import { word } from './imported.js'; say(word);
