import type { DefaultAlphabet, LongMessages, NumberingOptions } from '../smpp-options.js';

/** How addresses are marked; see `AddressOptions`. */
export interface AddressFormat {
  readonly alphanumeric: NumberingOptions;
  readonly international: NumberingOptions;
  readonly shortCode: NumberingOptions;
  readonly destination: NumberingOptions;
  readonly shortCodes: ReadonlySet<string>;
}

/** How a link writes what it submits. */
export interface PartFormat {
  readonly longMessages: LongMessages;
  readonly defaultAlphabet: DefaultAlphabet;
  readonly dataCoding: number;
  readonly serviceType: string;
  readonly addresses: AddressFormat;
}
