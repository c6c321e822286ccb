export interface CountryCodes {
  /** Two letters, or `unknown`. */
  readonly country: string | null;
  readonly sent: number;
  readonly verified: number;
  /** 0 to 1. */
  readonly conversion: number | null;
}

export interface CodesView {
  readonly items: readonly CountryCodes[];
  readonly refusals: readonly { readonly reason: string; readonly count: number }[];
}
