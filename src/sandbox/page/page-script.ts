import { scriptCodes } from './script-codes.js';
import { scriptLive } from './script-live.js';
import { scriptPhones } from './script-phones.js';
import { scriptTexts } from './script-texts.js';
import { scriptView } from './script-view.js';

/** The page's whole script, as the browser gets it: its parts one after the other, in a scope of their own. */
export const pageScript = `
(() => {
'use strict';
${scriptTexts}${scriptPhones}${scriptView}${scriptCodes}${scriptLive}})();
`;
