import { Status } from '../../components/shown.js';
import { stateName } from '../../core/words.js';
import { stepName } from './message-texts.js';

/** The status of a delivery or of an attempt. */
export function DeliveryStatus({ of, count }: { readonly of: string; readonly count?: number | undefined }) {
  const name = nameOf(of);
  return <Status of={of} text={count === undefined ? name : `${name} ${count}`} />;
}

export function nameOf(status: string): string {
  const shared = stateName.of(status);
  return shared === status ? stepName.of(status) : shared;
}
