import type { Surroundings } from '../openapi/controller-description.js';
import { EXAMPLE_ACCOUNT, EXAMPLE_MOMENT, EXAMPLE_NUMBER } from '../openapi/examples.js';
import { measure, notGsm7 } from './segmentation.js';
import { SmsSettings } from './sms-options.js';

const CONTENT = 'Votre colis est arrivé.';
const LONG_CONTENT = 'Votre colis arrivera bientôt.';

/** Examples as this host would answer: its first default signature, its tariff. */
export function smsExamples({ accounts, get }: Pick<Surroundings, 'accounts' | 'get'>) {
  const [signature] = accounts.signatures;
  const perSegment = get(SmsSettings).tariff.unitsFor(EXAMPLE_NUMBER);
  const { segments } = measure(CONTENT);
  const units = perSegment * segments;
  const receipt = {
    userID: EXAMPLE_ACCOUNT,
    smsID: '019d0f51-0d80-7b62-8c0e-5a7f3b1d9e24',
    signature,
    number: [EXAMPLE_NUMBER],
    sms_units: units,
    date_sent: EXAMPLE_MOMENT,
  };
  const summary = { ...receipt, content: CONTENT, segments, recipients_count: 1, refunded_units: 0 };
  const attempt = { at: EXAMPLE_MOMENT, route: 'carrier', segments };
  const recipient = { number: EXAMPLE_NUMBER, units, updated_at: EXAMPLE_MOMENT, attempts_count: 1 };
  return {
    send: { signature, content: CONTENT, number: [EXAMPLE_NUMBER] },
    receipt,
    summary,
    delivered: {
      ...summary,
      recipients: [
        {
          ...recipient,
          status: 'delivered',
          refunded_units: 0,
          error: null,
          attempts: [{ ...attempt, status: 'delivered', error: null }],
        },
      ],
    },
    failed: {
      ...summary,
      refunded_units: units,
      recipients: [
        {
          ...recipient,
          status: 'failed',
          refunded_units: units,
          error: 'sandbox: refused',
          attempts: [{ ...attempt, status: 'failed', error: 'refused', segments: null }],
        },
      ],
    },
    gsm7: quoteOf(CONTENT, perSegment),
    ucs2: quoteOf(LONG_CONTENT, perSegment),
  };
}

/** A quote with the text that it is for. */
function quoteOf(content: string, perSegment: number) {
  const { encoding, segments, characters } = measure(content);
  const units = segments * perSegment;
  return {
    asked: { content, number: [EXAMPLE_NUMBER] },
    answer: {
      encoding,
      segments,
      characters,
      units_per_recipient: [{ number: EXAMPLE_NUMBER, units }],
      sms_units: units,
      not_gsm7: notGsm7(content),
    },
  };
}
