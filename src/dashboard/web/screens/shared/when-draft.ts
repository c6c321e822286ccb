/** The validities to choose from, in seconds. */
export const VALIDITIES = ['3600', '21600', '86400', '259200', '604800', '2592000'] as const;

/** When a message goes out. Empty texts stand for the defaults. */
export interface When {
  readonly later: boolean;
  readonly date: string;
  readonly time: string;
  /** Seconds. */
  readonly validFor: (typeof VALIDITIES)[number] | '';
  readonly hours: '' | 'any' | 'only';
  readonly from: string;
  readonly to: string;
  /** ISO weekdays. */
  readonly days: readonly string[];
  readonly zone: 'recipient' | 'device';
}

/** A message that goes out now, with the defaults of the service. */
export const AT_ONCE: When = {
  later: false,
  date: '',
  time: '',
  validFor: '',
  hours: '',
  from: '08:00',
  to: '20:00',
  days: ['1', '2', '3', '4', '5', '6', '7'],
  zone: 'recipient',
};
