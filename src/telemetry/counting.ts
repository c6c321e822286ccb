import type { Clock } from '../common/clock.js';
import { faultCode, faultLog, nameOf } from '../common/log.js';

/** Runs a task that only counts or measures. Its errors are logged once a minute and never disturb the counted work. */
export function counting(clock: Clock, task: () => void): void {
  try {
    task();
  } catch (error) {
    const sentence = `A count failed with ${nameOf(error)}. The counted work continues, but the metrics lack it.`;
    faultLog('Telemetry', clock).error(sentence, { code: faultCode(error) });
  }
}
