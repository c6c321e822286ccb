/** Codes of a country. */
export interface CodesOfCountry {
  /** ISO 3166, or `unknown`. */
  readonly country: string;
  readonly sent: number;
  readonly verified: number;
  /** Verified for each that was sent, from 0 to 1; null where none was sent. */
  readonly conversion: number | null;
}

/** What became of an account's codes. */
export interface CodesView {
  readonly items: readonly CodesOfCountry[];
  /** By the rule that refused them. */
  readonly refusals: readonly { readonly reason: string; readonly count: number }[];
}
