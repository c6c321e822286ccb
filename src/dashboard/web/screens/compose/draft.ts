import { computed, effect, signal } from '@preact/signals';
import type { MediaType, SendPriority } from '../../../../client/index.js';
import { sessionState } from '../../core/session.js';
import type { BadLines } from '../shared/bad-lines.js';
import { type NumberList, numbersOf } from '../shared/number-list.js';
import { t } from './compose-texts.js';

/** Numbers that were uploaded or pasted as a whole. */
export interface Batch extends NumberList {
  /** The name of the file, or what stands for one. */
  readonly name: string;
}

/** What is being written. It is kept in memory until it was sent, whatever happens to the server or the session. */
export interface Draft {
  /** `sms`, or the name of a messaging-app channel. */
  readonly channel: string;
  readonly text: string;
  /** Messaging apps: whether the text goes with a file. */
  readonly withFile: boolean;
  /** Messaging apps: the address of the file, and what it is; empty: what the service finds it to be. */
  readonly mediaUrl: string;
  readonly mediaType: MediaType | '';
  /** SMS: the sender; empty: the first one that there is. */
  readonly signature: string;
  /** SMS: numbers as they were typed. */
  readonly typed: string;
  readonly batches: readonly Batch[];
  readonly priority: SendPriority;
  /** `key=value`, one a line. */
  readonly metadata: string;
  /** Messaging apps: the number that gets it, and the linked number that sends it; empty: the first linked one. */
  readonly to: string;
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
  priority: 'normal',
  metadata: '',
  to: '',
  from: '',
};

export const draft = signal<Draft>(EMPTY);

export function change(changes: Partial<Draft>): void {
  draft.value = { ...draft.value, ...changes };
}

export function clearDraft(): void {
  // Who writes to many writes under the same name again.
  const { channel, signature, from } = draft.value;
  draft.value = { ...EMPTY, channel, signature, from };
}

// The next user of this browser does not see it.
effect(() => {
  if (sessionState.value === 'out') draft.value = EMPTY;
});

/** What is sent again. */
interface Again {
  readonly channel: string;
  readonly text: string;
  readonly signature?: string;
  readonly numbers?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  readonly from?: string;
  readonly to?: string;
}

/** Numbers that are shown as text rather than as a list of their own. */
const SHOWN_AS_TEXT = 200;

/** Fills the form with a message that was sent. */
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

/** All numbers of the draft, each once, with what was left out. Not worked out anew while the text is typed. */
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

/** The lines without a number, by the list they stand in. */
export const badLines = computed((): readonly BadLines[] => [{ bad: typedList.value.bad }, ...batches.value]);
