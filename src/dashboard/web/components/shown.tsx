import { signal } from '@preact/signals';
import { DELIVERY_STATES, type DeliveryStage } from '../../../events/delivery-status.js';
import { serverNow } from '../core/clock.js';
import { ago, exactMoment, number } from '../core/format.js';
import { stateName, word } from '../core/words.js';

/** A counter that goes up every 20 s, so that texts such as “5 min ago” are rendered again. */
const turn = signal(0);
setInterval(() => {
  turn.value++;
}, 20_000);

export type Tone = 'calm' | 'good' | 'warn' | 'bad' | 'info';

const TONE_OF_STAGE = {
  waiting: 'info',
  'handed over': 'info',
  reached: 'good',
  'not reached': 'bad',
  unsure: 'warn',
} as const satisfies Readonly<Record<DeliveryStage, Tone>>;

const DELIVERY_TONES = Object.entries(DELIVERY_STATES).map(([status, { stage }]) => [status, TONE_OF_STAGE[stage]]);

const TONES: Readonly<Record<string, Tone>> = {
  ...Object.fromEntries(DELIVERY_TONES),
  active: 'good',
  verified: 'good',
  open: 'good',
  done: 'good',
  connected: 'good',
  pending: 'warn',
  resting: 'warn',
  expired: 'warn',
  retry: 'warn',
  postponed: 'warn',
  suspended: 'warn',
  broken: 'bad',
  rejected: 'bad',
  refused: 'bad',
  down: 'bad',
  revoked: 'bad',
  closed: 'bad',
  accepted: 'info',
  running: 'info',
};

/** Returns the colour of a status of the API. */
export function toneOf(status: string): Tone {
  return TONES[status] ?? 'calm';
}

/** A status of the API as a coloured badge. */
export function Status({
  of,
  tone,
  text,
}: {
  readonly of: string;
  readonly tone?: Tone | undefined;
  readonly text?: string | undefined;
}) {
  return <span class={`badge ${tone ?? toneOf(of)}`}>{text ?? stateName.of(of)}</span>;
}

/** How long ago something happened, with the exact time as a tooltip. Null: never. */
export function Ago({ at }: { readonly at: string | null }) {
  void turn.value;
  if (at === null) return <span class="soft">{word('never')}</span>;
  return (
    <time dateTime={at} title={exactMoment(at)}>
      {ago(at, serverNow())}
    </time>
  );
}

/** A number of units in a column of numbers. */
export function Units({ of, signed = false }: { readonly of: number; readonly signed?: boolean }) {
  return <span class="figure">{number(of, signed ? { signDisplay: 'exceptZero' } : {})}</span>;
}

/** An id, a key or an address in a monospace font, cut off if it is too long. */
export function Code({ children }: { readonly children: string }) {
  return (
    <code class="code" title={children} dir="auto">
      {children}
    </code>
  );
}
