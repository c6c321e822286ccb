import { useSignal } from '@preact/signals';
import type { QueuePause as Pause, QueueDepth } from '../../../../client/manage/index.js';
import { Button } from '../../components/button.js';
import { Dialog, Form } from '../../components/dialog.js';
import { SelectField, TextField } from '../../components/field.js';
import { Empty, Failure, Loading, Note } from '../../components/notes.js';
import { Screen, Section } from '../../components/page.js';
import { Ago } from '../../components/shown.js';
import { Table } from '../../components/table.js';
import { manage } from '../../core/clients.js';
import { isPassing } from '../../core/errors.js';
import { useForm } from '../../core/form.js';
import { number } from '../../core/format.js';
import { LIVE, useResource } from '../../core/resource.js';
import { type Act, act, tell } from '../../core/said.js';
import { can, me } from '../../core/session.js';
import { word } from '../../core/words.js';
import { t } from './queue-texts.js';

/** The API counts up to this number. */
const MAX_COUNTED = 100_000;

/** The waiting messages of the queue, and its paused parts. */
export function Queue() {
  const { data, error, reload } = useResource((signal) => manage().operator.queues({ signal }), [], LIVE);
  const pausing = useSignal(false);
  const close = (done: boolean): void => {
    pausing.value = false;
    if (done) void reload();
  };
  const writes = can('manage.write');
  return (
    <Screen
      title={t('title')}
      lead={t('lead')}
      actions={
        writes && (
          <Button
            onClick={() => {
              pausing.value = true;
            }}
          >
            {t('pause')}
          </Button>
        )
      }
    >
      {error !== undefined &&
        (data && isPassing(error) ? (
          <Note tone="warn">{word('stale')}</Note>
        ) : (
          <Failure error={error} onRetry={() => void reload()} />
        ))}
      {data === undefined && error === undefined && <Loading />}
      {data && (
        <>
          <Depths of={data.items} />
          <Section title={t('paused')}>
            {data.paused.length === 0 ? (
              <p class="soft">{t('nonePaused')}</p>
            ) : (
              <Pauses
                of={data.paused}
                onResume={writes ? (pause) => void act({ ...resumeOf(pause), after: () => void reload() }) : undefined}
              />
            )}
          </Section>
        </>
      )}
      {pausing.value && <PauseDialog channels={channelsOf()} paused={data?.paused ?? []} onClose={close} />}
    </Screen>
  );
}

function Depths({ of }: { readonly of: readonly QueueDepth[] }) {
  if (of.every(({ depth }) => depth === 0)) return <Empty title={t('none')}>{t('noneHow')}</Empty>;
  return (
    <Table
      caption={t('title')}
      rows={of}
      identity={({ channel, priority }) => `${channel} ${priority}`}
      columns={[
        { title: t('channel'), cell: ({ channel }) => <bdi>{channelName(channel)}</bdi> },
        { title: t('priority'), cell: ({ priority }) => t.of(priority) },
        {
          title: t('depth'),
          right: true,
          cell: ({ depth }) => (depth >= MAX_COUNTED ? t('most', { n: MAX_COUNTED }) : number(depth)),
        },
        { title: t('oldest'), cell: ({ oldest_due }) => (oldest_due === null ? '–' : <Ago at={oldest_due} />) },
      ]}
    />
  );
}

/** Returns the channels of this service. */
function channelsOf(): readonly string[] {
  const { sms = false, msgapp = [] } = me.value?.capabilities ?? {};
  return [...(sms ? ['sms'] : []), ...msgapp];
}

function channelName(channel: string): string {
  return channel === 'sms' ? 'SMS' : channel;
}

function namesOf({ channel, account }: Pick<Pause, 'channel' | 'account'>): {
  readonly channel: string;
  readonly account: string;
} {
  return {
    channel: channel === null ? t('allChannels') : channelName(channel),
    account: account ?? t('allAccounts'),
  };
}

function Pauses({ of, onResume }: { readonly of: readonly Pause[]; onResume: ((pause: Pause) => void) | undefined }) {
  return (
    <Table
      caption={t('paused')}
      rows={of}
      identity={({ channel, account }) => `${channel}/${account}`}
      columns={[
        { title: t('channel'), cell: (pause) => <bdi>{namesOf(pause).channel}</bdi> },
        { title: t('account'), cell: (pause) => <bdi>{namesOf(pause).account}</bdi> },
        { title: t('since'), cell: ({ since }) => <Ago at={since} /> },
        ...(onResume
          ? [
              {
                title: word('actions'),
                quiet: true,
                right: true,
                cell: (pause: Pause) => (
                  <Button label={t('resumeThis', namesOf(pause))} onClick={() => onResume(pause)}>
                    {t('resume')}
                  </Button>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}

interface PauseDialogProps {
  readonly channels: readonly string[];
  /** The pauses that exist before this one. */
  readonly paused: readonly Pause[];
  onClose(done: boolean): void;
}

function PauseDialog({ channels, paused, onClose }: PauseDialogProps) {
  const form = useForm(
    'pause',
    { channel: channels[0] ?? '', account: '' },
    async ({ channel, account }, idempotencyKey) => {
      const part = { channel: channel || undefined, account: account.trim() || undefined };
      await manage().operator.pause(part, { idempotencyKey });
      onClose(true);
      const made = { channel: part.channel ?? null, account: part.account ?? null };
      // If the part was paused before, an undo would end a pause that somebody else began.
      const wasPaused = paused.some((each) => each.channel === made.channel && each.account === made.account);
      const undo = wasPaused ? undefined : resumeOf(made);
      tell({ said: t('pauseDone', namesOf(made)), undo, after: () => onClose(true) });
    },
  );
  const { values, set } = form;
  return (
    <Dialog title={t('pauseTitle')} onClose={() => onClose(false)}>
      <Form form={form} submit={t('pauseVerb')} danger onCancel={() => onClose(false)}>
        <p>{t('pauseWhat')}</p>
        <SelectField
          label={t('channel')}
          value={values.channel}
          options={[...channels.map((each) => [each, channelName(each)] as const), ['', t('allChannels')]]}
          onInput={(channel) => set({ channel })}
        />
        <TextField
          label={t('account')}
          required={values.channel === ''}
          hint={values.channel === '' ? t('pauseEither') : t('accountHint')}
          maxLength={64}
          value={values.account}
          onInput={(account) => set({ account })}
        />
      </Form>
    </Dialog>
  );
}

function resumeOf({ channel, account }: Pick<Pause, 'channel' | 'account'>): Act {
  const part = { channel: channel ?? undefined, account: account ?? undefined };
  return {
    change: (idempotencyKey) => manage().operator.resume(part, { idempotencyKey }),
    said: t('resumeDone', namesOf({ channel, account })),
  };
}
