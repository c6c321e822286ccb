import type { DefaultAlphabet, LongMessages, NumberingOptions } from '../smpp-options.js';

/** The type of number and the numbering plan of addresses, see `AddressOptions`. */
export interface AddressFormat {
  readonly alphanumeric: NumberingOptions;
  readonly international: NumberingOptions;
  readonly shortCode: NumberingOptions;
  readonly destination: NumberingOptions;
  readonly national: NumberingOptions;
  /** The calling code whose numbers are written in national form. Undefined: all numbers are written in international form. */
  readonly nationalAfter: string | undefined;
  readonly shortCodes: ReadonlySet<string>;
}

/** The format of a link's submits. */
export interface PartFormat {
  readonly longMessages: LongMessages;
  readonly defaultAlphabet: DefaultAlphabet;
  readonly dataCoding: number;
  readonly serviceType: string;
  /** Whether each submit says how long the SMS is useful (`validity_period`). */
  readonly validity: boolean;
  readonly addresses: AddressFormat;
}
