/** What `POST /sms/quote` answers. */
export interface Quote {
  readonly encoding: string;
  readonly segments: number;
  readonly characters: number;
  readonly units_per_recipient: readonly { readonly number: string; readonly units: number }[];
  readonly sms_units: number;
  readonly not_gsm7: readonly string[];
}
