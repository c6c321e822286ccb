import type { Clock } from '../common/clock.js';
import { faultCode, faultLog, nameOf } from '../common/log.js';

/** Runs a task that only counts or measures. Its errors are logged once a minute and never reach the work that is counted. */
export function counting(clock: Clock, task: () => void): void {
  try {
    task();
  } catch (error) {
    const sentence = `What counts threw ${nameOf(error)}; the work goes on, and metrics lack it.`;
    faultLog('Telemetry', clock).error(sentence, { code: faultCode(error) });
  }
}
