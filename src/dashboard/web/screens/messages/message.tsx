import { useSignal } from '@preact/signals';
import type { MsgappMessage, SmsDetails } from '../../../../client/index.js';
import { DELIVERY_STATES } from '../../../../events/delivery-status.js';
import { Button, CopyButton } from '../../components/button.js';
import { Failure, Loading, Note } from '../../components/notes.js';
import { Facts, Screen, Section } from '../../components/page.js';
import { Code } from '../../components/shown.js';
import { messaging } from '../../core/clients.js';
import { isMissing, isPassing } from '../../core/errors.js';
import { useAction } from '../../core/form.js';
import { LIVE, useResource } from '../../core/resource.js';
import { chosenAccount, go, hrefOf, queryValue } from '../../core/router.js';
import { can, me } from '../../core/session.js';
import { word } from '../../core/words.js';
import { composeAgain } from '../compose/draft.js';
import { shownNumber } from '../shared/number.js';
import { isAhead, scheduleFacts, zonedMoment } from '../shared/schedule.js';
import { SizedText } from '../shared/segments.js';
import { useWaitingActs } from '../shared/waiting.js';
import { DeliveryStatus } from './delivery-status.js';
import { MessageEvents } from './message-events.js';
import { t } from './message-texts.js';
import { Recipients } from './recipients.js';
import { stepsOfApp, Timeline } from './timeline.js';

type Found =
  | { readonly channel: 'sms'; readonly sms: SmsDetails }
  | { readonly channel: string; readonly app: MsgappMessage };

/** One message: its text, its price, and its timeline for each recipient. */
export function Message({ id }: { readonly id: string }) {
  const channel = queryValue('channel');
  const { data, error, reload } = useResource<Found>(
    (signal) => find(id, channel, signal),
    [id, channel, chosenAccount()],
    // Every time an operator reads a text, the audit log records it, so the page does not poll for operators.
    me.value?.operator ? undefined : LIVE,
  );
  const acts = useWaitingActs(data?.channel ?? '', () => void reload());
  const back = [hrefOf('messages'), t('back')] as const;
  if (data === undefined) {
    return (
      <Screen title={t('title')} back={back}>
        {error === undefined ? <Loading lines={8} /> : <Failure error={error} onRetry={() => void reload()} />}
      </Screen>
    );
  }
  const due = dueOf(data);
  return (
    <Screen
      title={titleOf(data)}
      back={back}
      actions={
        <>
          {due !== undefined && acts.buttons({ id, at: due })}
          {can('sms.send') && !isPersonal(data) && <Again of={data} />}
        </>
      }
    >
      {error !== undefined && (isPassing(error) ? <Note tone="warn">{word('stale')}</Note> : <Failure error={error} />)}
      {'sms' in data ? <Sms of={data.sms} /> : <App of={data.app} channel={data.channel} />}
      {can('events.read') && me.value?.capabilities.webhooks && <MessageEvents id={id} since={sentAt(data)} />}
      {acts.dialog}
    </Screen>
  );
}

/** Finds a message by its id. If the address names no channel, every channel is asked. */
async function find(id: string, channel: string, signal: AbortSignal): Promise<Found> {
  const { sms = false, msgapp = [] } = me.value?.capabilities ?? {};
  const all = [...(sms ? ['sms'] : []), ...msgapp];
  let missing: unknown;
  for (const each of channel === '' ? all : [channel]) {
    try {
      if (each === 'sms') return { channel: 'sms', sms: await messaging().sms.get(id, { signal }) };
      return { channel: each, app: await messaging().msgapp(each).message(id, { signal }) };
    } catch (error) {
      if (!isMissing(error)) throw error;
      missing = error;
    }
  }
  throw missing;
}

function sentAt(found: Found): string {
  return 'sms' in found ? found.sms.date_sent : found.app.queued_at;
}

/** When the first of its recipients is due; undefined if none of them waits for a moment or a window. */
function dueOf(found: Found): string | undefined {
  const { send_at, window } = 'sms' in found ? found.sms : found.app;
  // A recipient whose last attempt failed is due again too.
  if (send_at === null && window === null) return undefined;
  const recipients = 'sms' in found ? found.sms.recipients : [found.app];
  const due = recipients.flatMap(({ due_at }) => (isAhead(due_at) ? [due_at] : []));
  return due.toSorted()[0];
}

function titleOf(found: Found): string {
  const [to = ''] = 'sms' in found ? found.sms.number : [found.app.to];
  const count = 'sms' in found ? found.sms.recipients_count : 1;
  return count === 1 ? t('one', { to: shownNumber(to) }) : t('many', { n: count });
}

function Sms({ of }: { readonly of: SmsDetails }) {
  return (
    <>
      <div class="columns">
        <Section title={t('text')}>
          {of.content === null ? (
            <Note>{t('removedWhy')}</Note>
          ) : isPersonal({ channel: 'sms', sms: of }) ? (
            <div class="segments">
              <p class="segment" dir="auto">
                {of.content}
              </p>
              <p class="hint">{t('personal')}</p>
            </div>
          ) : (
            <SizedText of={of.content} />
          )}
        </Section>
        <Section title={word('details')}>
          <Facts
            of={[
              [t('at'), zonedMoment(of.date_sent)],
              ...scheduleFacts(of),
              [t('from'), <bdi key="from">{of.signature}</bdi>],
              [t('price'), <Price key="price" units={of.sms_units} refunded={of.refunded_units} />],
              [t('metadata'), <Metadata key="metadata" of={of.metadata} />],
              [t('id'), <Id key="id" of={of.smsID} />],
            ]}
          />
        </Section>
      </div>
      <Recipients of={of} />
    </>
  );
}

function App({ of, channel }: { readonly of: MsgappMessage; readonly channel: string }) {
  const text = of.media ? of.media.caption : of.body;
  return (
    <>
      <div class="columns">
        <Section title={t('text')}>
          {of.media && (
            <p class="soft">
              {t('file', { type: of.media.type })} · <bdi>{of.media.mimetype}</bdi>
            </p>
          )}
          {text === null && !of.media ? (
            <Note>{t('removedWhy')}</Note>
          ) : (
            text && (
              <div class="segments">
                <p class="segment" dir="auto">
                  {text}
                </p>
              </div>
            )
          )}
        </Section>
        <Section title={word('details')}>
          <Facts
            of={[
              [t('at'), zonedMoment(of.queued_at)],
              ...scheduleFacts(of),
              [t('channel'), <bdi key="channel">{channel}</bdi>],
              [t('from'), <bdi key="from">{shownNumber(of.from)}</bdi>],
              [t('price'), <Price key="price" units={of.units} refunded={of.refunded_units} />],
              [t('metadata'), <Metadata key="metadata" of={of.metadata} />],
              [t('id'), <Id key="id" of={of.messageID} />],
            ]}
          />
        </Section>
      </div>
      <Section title={t('timeline')} actions={<DeliveryStatus of={of.status} />}>
        <div class="card">
          <Timeline label={t('timelineOf', { number: shownNumber(of.to) })} steps={stepsOfApp(of)} />
        </div>
      </Section>
    </>
  );
}

function Price({ units, refunded }: { readonly units: number; readonly refunded: number }) {
  return (
    <>
      {t('priceOf', { n: units })}
      {refunded > 0 && <span class="soft"> · {t('refunded', { n: refunded })}</span>}
    </>
  );
}

function Metadata({ of }: { readonly of: Readonly<Record<string, string>> | null }) {
  const entries = Object.entries(of ?? {});
  if (entries.length === 0) return <span class="soft">{word('none')}</span>;
  return (
    <span class="tags">
      {entries.map(([key, value]) => (
        <code key={key} dir="auto">
          {key}={value}
        </code>
      ))}
    </span>
  );
}

function Id({ of }: { readonly of: string }) {
  return (
    <span class="tags">
      <Code>{of}</Code> <CopyButton text={of} label={t('copyId')} />
    </span>
  );
}

/**
 * Whether each recipient got a text of its own. The form sends one text to all, so it would send the braces of the variables
 * as they are.
 */
function isPersonal(found: Found): boolean {
  return 'sms' in found && found.sms.content !== null && found.sms.segments === null;
}

const PAGE = 500;

/** Buttons that open the form with this message filled in. The numbers are read first, page by page. */
function Again({ of }: { readonly of: Found }) {
  const gathered = useSignal(0);
  const open = async (only: 'all' | 'failed'): Promise<void> => {
    gathered.value = 0;
    if ('app' in of) {
      composeAgain({ channel: of.channel, from: of.app.from, to: of.app.to, text: of.app.body ?? '' });
    } else {
      const { smsID, signature, content, metadata } = of.sms;
      const numbers: string[] = [];
      for await (const { number, status } of messaging().sms.recipients(smsID, { limit: PAGE })) {
        if (only === 'all' || DELIVERY_STATES[status].stage === 'not reached') numbers.push(number);
        gathered.value++;
      }
      composeAgain({ channel: 'sms', signature, text: content ?? '', numbers, metadata: metadata ?? {} });
    }
    go('compose');
  };
  const all = useAction(() => open('all'));
  const failed = useAction(() => open('failed'));
  const total = 'sms' in of ? of.sms.recipients_count : 1;
  const some = 'sms' in of && of.sms.recipients_count > 1 && of.sms.refunded_units > 0;
  return (
    <>
      <span role="status" class="soft">
        {(all.busy || failed.busy) && total > PAGE && t('gathering', { n: gathered.value, of: total })}
      </span>
      <Button kind="main" busy={all.busy} onClick={() => void all.run()}>
        {t('again')}
      </Button>
      {some && (
        <Button busy={failed.busy} onClick={() => void failed.run()}>
          {t('againFailed')}
        </Button>
      )}
      <Failure error={all.error ?? failed.error} />
    </>
  );
}
