import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { COMPLETE_STATUSES } from '../../../../events/delivery-status.js';
import { Status, type Tone, toneOf } from '../../components/shown.js';
import { messaging } from '../../core/clients.js';
import { chosenAccount } from '../../core/router.js';
import { DeliveryStatus, nameOf } from './delivery-status.js';
import { t } from './message-texts.js';
import type { Row } from './message-types.js';

type Counts = Readonly<Record<string, number>>;

const COMPLETE: readonly string[] = COMPLETE_STATUSES;

/** How many recipients of a message are counted in the list. */
const COUNTED = 50;

/** The counts that are known, by account and message, so that a list that is opened again needs no requests for them. */
const known = new Map<string, Counts>();

/** How many more requests may start. The limit keeps connections of the browser free for other requests. */
let free = 4;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (free > 0) free--;
  else await new Promise<void>((go) => waiting.push(go));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else free++;
  }
}

/** The statuses of a message's recipients. For SMS they are loaded separately, because the list of the API lacks them. */
export function RowStatus({ of }: { readonly of: Row }) {
  if (of.status !== undefined) return <DeliveryStatus of={of.status} />;
  return <CountedStatus id={of.id} total={of.others + 1} />;
}

function CountedStatus({ id, total }: { readonly id: string; readonly total: number }) {
  const name = `${chosenAccount() ?? ''}/${id}`;
  const counts = useSignal<Counts | undefined>(known.get(name));
  useEffect(() => {
    if (counts.peek() && isOver(counts.peek())) return;
    const over = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const look = async (): Promise<void> => {
      const found = await inTurn(() => countsOf(id, over.signal)).catch(() => undefined);
      if (over.signal.aborted) return;
      if (found) {
        counts.value = found;
        known.set(name, found);
      }
      if (!found || !isOver(found)) timer = setTimeout(() => void look(), 5000);
    };
    void look();
    return () => {
      over.abort();
      clearTimeout(timer);
    };
  }, [name]);
  const [most, ...others] = Object.entries(counts.value ?? {}).sort(([, one], [, other]) => other - one);
  if (!most) return <span class="soft">…</span>;
  return (
    <span class="badges">
      <DeliveryStatus of={most[0]} count={total > 1 ? most[1] : undefined} />
      <Others of={others} />
      {total > COUNTED && <span class="soft">…</span>}
    </span>
  );
}

/** The tones from worst to best. */
const TONES = ['bad', 'warn', 'info', 'calm', 'good'] as const satisfies readonly Tone[];

/** The less frequent statuses in one badge, which has the colour of the worst one. */
function Others({ of }: { readonly of: readonly (readonly [status: string, count: number])[] }) {
  const [only] = of;
  if (!only) return null;
  if (of.length === 1) return <DeliveryStatus of={only[0]} count={only[1]} />;
  const worst = TONES.find((tone) => of.some(([status]) => toneOf(status) === tone));
  const all = of.map(([status, count]) => `${nameOf(status)} ${count}`).join(', ');
  return (
    <span title={all}>
      <Status of={only[0]} tone={worst} text={t('otherStates', { n: of.reduce((sum, [, count]) => sum + count, 0) })} />
      <span class="hidden-text"> ({all})</span>
    </span>
  );
}

/** Whether the list need not load the statuses again. Later changes are shown on the page of the message. */
function isOver(counts: Counts | undefined): boolean {
  return counts !== undefined && Object.keys(counts).every((status) => COMPLETE.includes(status));
}

async function countsOf(id: string, signal: AbortSignal): Promise<Counts> {
  if (signal.aborted) return {};
  const { items } = await messaging().sms.recipients(id, { limit: COUNTED }, { signal }).page();
  const counts: Record<string, number> = {};
  for (const { status } of items) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
