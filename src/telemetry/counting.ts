import type { Clock } from '../common/clock.js';
import { faultCode, faultLog, nameOf } from '../common/log.js';

/** Runs what only counts or measures. What it throws is logged once a minute, and never reaches the work that is counted. */
export function counting(clock: Clock, task: () => void): void {
  try {
    task();
  } catch (error) {
    const sentence = `What counts threw ${nameOf(error)}; the work goes on, and metrics lack it.`;
    faultLog('Telemetry', clock).error(sentence, { code: faultCode(error) });
  }
}
