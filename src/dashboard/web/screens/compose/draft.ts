import { computed, effect, signal } from '@preact/signals';
import type { MediaType, SendPriority } from '../../../../client/index.js';
import { sessionState } from '../../core/session.js';
import type { BadLines } from '../shared/bad-lines.js';
import { type NumberList, numbersOf } from '../shared/number-list.js';
import { AT_ONCE, type When } from '../shared/when-draft.js';
import { t } from './compose-texts.js';

/** A list of numbers that was uploaded, or pasted as a whole. */
export interface Batch extends NumberList {
  /** The name of the file, or a name for a pasted list. */
  readonly name: string;
}

/** The message that is being written. It stays in memory until it was sent, even if the server fails or the session ends. */
export interface Draft {
  /** `sms`, or the name of a messaging-app channel. */
  readonly channel: string;
  readonly text: string;
  /** Messaging apps: whether the text goes with a file. */
  readonly withFile: boolean;
  /** Messaging apps: the address of the file. */
  readonly mediaUrl: string;
  /** Messaging apps: the kind of the file. Empty: the service detects it. */
  readonly mediaType: MediaType | '';
  /** SMS: the sender. Empty: the first sender of the list. */
  readonly signature: string;
  /** SMS: the numbers as they were typed. */
  readonly typed: string;
  readonly batches: readonly Batch[];
  /** SMS: whether each recipient of a table gets a text of its own. */
  readonly isPersonal: boolean;
  /** SMS: the table as it was pasted. */
  readonly pasted: string;
  /** SMS: the table that was uploaded, in place of the pasted one. Its text is undefined if the file is too large. */
  readonly file: { readonly name: string; readonly text: string | undefined } | undefined;
  /** SMS: the place of the table's column with the numbers. Undefined: it is guessed. */
  readonly column: number | undefined;
  readonly priority: SendPriority;
  readonly when: When;
  /** The metadata as `key=value`, one per line. */
  readonly metadata: string;
  /** Messaging apps: the number that receives the message. */
  readonly to: string;
  /** Messaging apps: the linked number that sends the message. Empty: the number that was linked first. */
  readonly from: string;
}

const EMPTY: Draft = {
  channel: '',
  text: '',
  withFile: false,
  mediaUrl: '',
  mediaType: '',
  signature: '',
  typed: '',
  batches: [],
  isPersonal: false,
  pasted: '',
  file: undefined,
  column: undefined,
  priority: 'normal',
  when: AT_ONCE,
  metadata: '',
  to: '',
  from: '',
};

export const draft = signal<Draft>(EMPTY);

export function change(changes: Partial<Draft>): void {
  draft.value = { ...draft.value, ...changes };
}

export function clearDraft(): void {
  // People who send several messages mostly use the same sender again.
  const { channel, signature, from } = draft.value;
  draft.value = { ...EMPTY, channel, signature, from };
}

// After a sign-out the draft is discarded, so that the next user of this browser does not see it.
effect(() => {
  if (sessionState.value === 'out') draft.value = EMPTY;
});

/** A message that is to be sent again. */
interface Again {
  readonly channel: string;
  readonly text: string;
  readonly signature?: string;
  readonly numbers?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  readonly from?: string;
  readonly to?: string;
}

/** Up to this many numbers are put into the text box. More numbers become a separate list. */
const SHOWN_AS_TEXT = 200;

/** Fills the form with a message that was sent before. */
export function composeAgain({ numbers = [], metadata = {}, ...of }: Again): void {
  const few = numbers.length <= SHOWN_AS_TEXT;
  draft.value = {
    ...EMPTY,
    ...of,
    typed: few ? numbers.join('\n') : '',
    batches: few ? [] : [{ name: t('pasted'), numbers, bad: [], duplicates: 0 }],
    metadata: Object.entries(metadata)
      .map(([key, value]) => `${key}=${value}`)
      .join('\n'),
  };
}

const typed = computed(() => draft.value.typed);
const batches = computed(() => draft.value.batches);
const typedList = computed(() => numbersOf(typed.value, 'all'));

/** All distinct numbers of the draft, and the lines that were left out. They are not computed again while the text is typed. */
export const recipients = computed((): Omit<NumberList, 'bad'> => {
  const lists: readonly NumberList[] = [typedList.value, ...batches.value];
  const all = new Set<string>();
  let given = 0;
  for (const { numbers } of lists) {
    given += numbers.length;
    for (const number of numbers) all.add(number);
  }
  const duplicates = lists.reduce((sum, list) => sum + list.duplicates, given - all.size);
  return { numbers: [...all], duplicates };
});

/** The lines without a number, grouped by their list. */
export const badLines = computed((): readonly BadLines[] => [{ bad: typedList.value.bad }, ...batches.value]);
