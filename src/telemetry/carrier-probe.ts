import type { Clock } from '../common/clock.js';
import { checkSubmitResult } from '../sms/receipts/submit-answers.js';
import type { OutgoingSms, ReportResult, SmsSink, SmsTransport, SubmitResult } from '../sms/sms-transport.js';
import { counting } from './counting.js';
import { delegate } from './delegate.js';
import type { Instruments } from './instruments.js';

/**
 * Wraps a transport to count its submits and the reports that it makes itself. Receipts are counted when they are
 * stored.
 */
export function measuredTransport(transport: SmsTransport, instruments: Instruments, clock: Clock): SmsTransport {
  const { name } = transport;
  const measured: Readonly<Record<string, unknown>> = {
    submit: (batch: readonly OutgoingSms[], signal: AbortSignal, report?: ReportResult) =>
      submit(transport, instruments, clock, batch, signal, report),
    start: (sink: SmsSink) =>
      transport.start({
        receipts: async (receipts) => {
          await sink.receipts(receipts);
          counting(clock, () => {
            // Receipts that could be read are counted when they are stored.
            for (const { route } of receipts.filter(({ unread }) => unread === true)) {
              instruments.record('receipts_total', 1, route, 'unread');
            }
          });
        },
        inbound: (texts) => sink.inbound(texts),
        unread: (route, address) => sink.unread(route, address),
        report: async (reports) => {
          await sink.report(reports);
          counting(clock, () => {
            for (const { status } of reports) instruments.record('receipts_total', 1, name, status);
          });
        },
      }),
  };
  return delegate(transport, (each, method) => (measured[each] as typeof method | undefined) ?? method);
}

async function submit(
  transport: SmsTransport,
  instruments: Instruments,
  clock: Clock,
  batch: readonly OutgoingSms[],
  signal: AbortSignal,
  report: ReportResult = () => undefined,
): Promise<readonly SubmitResult[]> {
  const began = clock.elapsed();
  const counted = new Set<OutgoingSms>();
  const count = (sms: OutgoingSms, given: unknown): void => {
    if (counted.has(sms)) return;
    counted.add(sms);
    const { kind, route = transport.name, attempts } = checkSubmitResult(given).result;
    for (const attempt of attempts ?? [{ route, outcome: kind }]) {
      instruments.record('carrier_submits_total', 1, attempt.route, attempt.outcome);
    }
    // A postponed SMS did not reach the carrier, so it is not counted.
    if (kind === 'postponed') return;
    instruments.record('carrier_submit_duration_seconds', (clock.elapsed() - began) / 1000, route);
  };
  const results: unknown = await transport.submit(batch, signal, (sms, result) => {
    counting(clock, () => count(sms, result));
    report(sms, result);
  });
  if (Array.isArray(results)) {
    for (const [index, sms] of batch.entries()) counting(clock, () => count(sms, results[index]));
  }
  // The cast is safe, because the channel checks the results.
  return results as readonly SubmitResult[];
}
