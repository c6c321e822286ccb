import { readConfig } from '../../../sample-app/src/config/config.js';
import { sentenceOf } from '../../../sample-app/src/demo/trouble.js';

/** What each program of the sample app would print, and nothing else, when it is to start with these settings. */
export function refusal(env: NodeJS.ProcessEnv): string {
  try {
    readConfig(env);
  } catch (error) {
    return sentenceOf(error) ?? `a fault, not a sentence: ${error}`;
  }
  return 'nothing is refused';
}
