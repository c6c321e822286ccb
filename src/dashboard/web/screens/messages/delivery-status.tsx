import { Status, type Tone } from '../../components/shown.js';
import { stateName } from '../../core/words.js';
import { stepName } from './message-texts.js';

const TONES: Readonly<Record<string, Tone>> = { sending: 'info', retry: 'warn', postponed: 'warn' };

/** The status of a delivery or of an attempt. */
export function DeliveryStatus({ of, count }: { readonly of: string; readonly count?: number | undefined }) {
  const name = nameOf(of);
  return <Status of={of} tone={TONES[of]} text={count === undefined ? name : `${name} ${count}`} />;
}

export function nameOf(status: string): string {
  const shared = stateName.of(status);
  return shared === status ? stepName.of(status) : shared;
}
