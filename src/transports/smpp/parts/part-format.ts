import type { DefaultAlphabet, LongMessages, NumberingOptions } from '../smpp-options.js';

/** Type of number and numbering plan of addresses; see `AddressOptions`. */
export interface AddressFormat {
  readonly alphanumeric: NumberingOptions;
  readonly international: NumberingOptions;
  readonly shortCode: NumberingOptions;
  readonly destination: NumberingOptions;
  readonly national: NumberingOptions;
  /** The calling code behind which recipients are written in national form; undefined: all in international form. */
  readonly nationalAfter: string | undefined;
  readonly shortCodes: ReadonlySet<string>;
}

/** The format of a link's submits. */
export interface PartFormat {
  readonly longMessages: LongMessages;
  readonly defaultAlphabet: DefaultAlphabet;
  readonly dataCoding: number;
  readonly serviceType: string;
  /** Whether each submit states how long the SMS is of use (`validity_period`). */
  readonly validity: boolean;
  readonly addresses: AddressFormat;
}
