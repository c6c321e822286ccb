import { readConfig } from '../../../sample-app/src/config/config.js';
import { sentenceOf } from '../../../sample-app/src/demo/trouble.js';

/** The only output of each program of the sample app when it starts with these settings. */
export function refusal(env: NodeJS.ProcessEnv): string {
  try {
    readConfig(env);
  } catch (error) {
    return sentenceOf(error) ?? `a fault, not a sentence: ${error}`;
  }
  return 'nothing is refused';
}
