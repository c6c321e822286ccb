import { useSignal } from '@preact/signals';
import type { Campaign as CampaignView } from '../../../../client/index.js';
import { Button } from '../../components/button.js';
import { Confirm } from '../../components/dialog.js';
import { Failure, Loading, Note } from '../../components/notes.js';
import { Facts, Figure, Screen, Section } from '../../components/page.js';
import { messaging } from '../../core/clients.js';
import { serverNow } from '../../core/clock.js';
import { useAction } from '../../core/form.js';
import { moment, number } from '../../core/format.js';
import { LIVE, useResource } from '../../core/resource.js';
import { hrefOf } from '../../core/router.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import { windowWords } from '../shared/schedule.js';
import { Segments } from '../shared/segments.js';
import { CampaignProgress, CampaignStatus } from './campaign-parts.js';
import { CampaignRecipients, recipientState, STATES } from './campaign-recipients.js';
import { t } from './campaign-texts.js';
import { DraftPrice, useCampaignQuote } from './draft-price.js';
import { DraftRecipients } from './draft-recipients.js';
import { DraftTest } from './draft-test.js';

/** One campaign: the editor of a draft, else its progress and results. */
export function Campaign({ id }: { readonly id: string }) {
  const { data, error, reload } = useResource((signal) => messaging().campaigns.get(id, { signal }), [id], LIVE);
  const back = [hrefOf('campaigns'), t('back')] as const;
  if (data === undefined) {
    return (
      <Screen title={t('title')} back={back}>
        {error === undefined ? <Loading /> : <Failure error={error} onRetry={() => void reload()} />}
      </Screen>
    );
  }
  const isDraft = data.status === 'draft';
  return (
    <Screen title={data.name} back={back} actions={<Actions of={data} reload={reload} />}>
      <Failure error={error} />
      {data.pause_reason !== null && data.status === 'paused' && (
        <Note tone="warn">
          <span>{t(data.pause_reason)}</span>
          {data.pause_reason === 'insufficient_balance' && (
            <a class="button" href={hrefOf('balance')}>
              {t('openBalance')}
            </a>
          )}
        </Note>
      )}
      {!isDraft && <Progress of={data} />}
      <Section title={t('text')} actions={<CampaignStatus of={data.status} />}>
        <div class="form">
          <Segments of={data.content} />
          <Facts
            of={[
              [t('from'), <bdi key="from">{data.signature}</bdi>],
              ...(data.send_at === null ? [] : [[t('sendAt'), moment(data.send_at)] as const]),
              ...(data.window === null ? [] : [[t('hours'), windowWords(data.window)] as const]),
              ...(data.per_minute === null ? [] : [[t('perMinute'), number(data.per_minute)] as const]),
              ...(data.valid_for === null ? [] : [[t('validFor'), duration(data.valid_for)] as const]),
            ]}
          />
        </div>
      </Section>
      {isDraft && can('campaigns.write') && <DraftRecipients of={data} onImported={() => void reload()} />}
      {isDraft && data.recipients_count > 0 && <DraftPrice id={id} recipients={data.recipients_count} />}
      {isDraft && can('campaigns.send') && <DraftTest of={data} />}
      <CampaignRecipients of={data} />
    </Screen>
  );
}

interface PartProps {
  readonly of: CampaignView;
  reload(): Promise<void>;
}

/** The buttons for what the user may do to a campaign in its state. */
function Actions({ of, reload }: PartProps) {
  const asking = useSignal<'start' | 'cancel' | 'remove' | undefined>(undefined);
  const { id, name, status, counts } = of;
  const pause = useAction((idempotencyKey) => messaging().campaigns.pause(id, { idempotencyKey }).then(reload));
  const resume = useAction((idempotencyKey) => messaging().campaigns.resume(id, { idempotencyKey }).then(reload));
  const [writes, sends] = [can('campaigns.write'), can('campaigns.send')];
  const isOpen = status === 'running' || status === 'scheduled';
  const ask = (what: 'start' | 'cancel' | 'remove') => () => {
    asking.value = what;
  };
  const close = (done: boolean): void => {
    const what = asking.value;
    asking.value = undefined;
    if (done && what !== 'remove') void reload();
  };
  return (
    <>
      <Failure error={pause.error ?? resume.error} />
      {status === 'draft' && writes && <Button onClick={ask('remove')}>{t('remove')}</Button>}
      {status === 'draft' && sends && (
        <Button kind="main" disabled={of.recipients_count === 0} onClick={ask('start')}>
          {t('start')}
        </Button>
      )}
      {writes && (isOpen || status === 'paused') && <Button onClick={ask('cancel')}>{t('cancel')}</Button>}
      {isOpen && writes && (
        <Button kind="main" busy={pause.busy} onClick={() => void pause.run()}>
          {t('pause')}
        </Button>
      )}
      {status === 'paused' && sends && (
        <Button kind="main" busy={resume.busy} onClick={() => void resume.run()}>
          {t('resume')}
        </Button>
      )}
      {asking.value === 'start' && <Start of={of} onClose={close} />}
      {asking.value === 'cancel' && (
        <Confirm
          title={t('cancelThis', { name })}
          verb={t('cancelVerb')}
          said={t('stopped', { name })}
          change={(idempotencyKey) => messaging().campaigns.cancel(id, { idempotencyKey })}
          onClose={close}
        >
          <p>{t('cancelWhat', { n: counts.pending + counts.queued })}</p>
        </Confirm>
      )}
      {asking.value === 'remove' && (
        <Confirm
          title={t('removeThis', { name })}
          verb={t('remove')}
          said={t('removed', { name })}
          next="campaigns"
          change={() => messaging().campaigns.remove(id)}
          onClose={close}
        >
          <p>{t('removeWhat')}</p>
        </Confirm>
      )}
    </>
  );
}

/** Names the recipients and the price before a campaign starts. */
function Start({
  of: { id, name, recipients_count: count, send_at: sendAt },
  onClose,
}: {
  of: CampaignView;
  onClose(done: boolean): void;
}) {
  const quote = useCampaignQuote(id, count);
  const balance = useResource((signal) => messaging().balance({ signal }), []);
  const [price, left] = [quote.data, balance.data?.balance];
  return (
    <Confirm
      title={t('startThis', { name })}
      verb={t('startFor', { n: price?.units ?? 0 })}
      danger={false}
      said={t('started', { name })}
      disabled={price === undefined || left === undefined}
      change={(idempotencyKey) => messaging().campaigns.start(id, { idempotencyKey })}
      onClose={onClose}
    >
      {price === undefined || left === undefined ? (
        quote.error === undefined && balance.error === undefined && <Loading lines={2} />
      ) : (
        <>
          <p>
            {t('startWhat', {
              n: price.recipients - price.opted_out - price.invalid,
              units: number(price.units),
              balance: number(left),
            })}
          </p>
          {sendAt !== null && <Facts of={[[t('sendAt'), moment(sendAt)]]} />}
          {left < price.units && <Note tone="warn">{t('startShort')}</Note>}
        </>
      )}
      <Failure error={quote.error ?? balance.error} />
    </Confirm>
  );
}

function Progress({ of }: { readonly of: CampaignView }) {
  const { counts, units, refunded_units: refunded, expected_end: end } = of;
  const minutes = end === null ? 0 : (Date.parse(end) - serverNow()) / 60_000;
  return (
    <>
      <p class="progress">
        <CampaignProgress of={of} />
      </p>
      <div class="cards">
        {minutes > 0 && <Figure name={t('rate')} value={number(Math.round(counts.pending / minutes))} />}
        {end !== null && minutes > 0 && <Figure name={t('end')} value={moment(end)} />}
        <Figure name={t('cost')} value={number(units)} note={word('units')} />
        <Figure name={t('refunded')} value={number(refunded)} note={word('units')} />
      </div>
      <div class="card">
        <Facts
          of={STATES.map((status) => {
            const n = number(counts[status]);
            const href = hrefOf(`campaigns/${encodeURIComponent(of.id)}`, { status });
            return [recipientState(status), counts[status] === 0 ? n : <a href={href}>{n}</a>] as const;
          })}
        />
      </div>
    </>
  );
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** A duration in its largest unit that leaves no rest. Example: “2 hours”. */
function duration(seconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => seconds % each === 0) ?? ['second', 1];
  return number(seconds / size, { style: 'unit', unit, unitDisplay: 'long' });
}
