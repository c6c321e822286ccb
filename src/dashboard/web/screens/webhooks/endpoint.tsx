import { useSignal } from '@preact/signals';
import type { ReplayQuery, Webhook, WebhookPing, WebhookWithSecret } from '../../../../client/index.js';
import { Button } from '../../components/button.js';
import { Confirm, Dialog, Form } from '../../components/dialog.js';
import { SelectField, TextField } from '../../components/field.js';
import { Failure, Loading, Note } from '../../components/notes.js';
import { Facts, Screen } from '../../components/page.js';
import { Ago, Code } from '../../components/shown.js';
import { messaging } from '../../core/clients.js';
import { isPassing } from '../../core/errors.js';
import { useAction, useForm } from '../../core/form.js';
import { moment } from '../../core/format.js';
import { LIVE, type Resource, useResource } from '../../core/resource.js';
import { hrefOf } from '../../core/router.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import '../shared/parts.css';
import { Turn } from '../shared/turn.js';
import { Attempts } from './attempts.js';
import { EndpointForm } from './endpoint-form.js';
import { Body, EndpointStatus, SecretDialog, TypesOf } from './endpoint-parts.js';
import { t } from './webhook-texts.js';

/** One endpoint: its settings, its calls, and the actions on it. */
export function Endpoint({ id }: { readonly id: string }) {
  const endpoint = useResource((signal) => messaging().webhooks.get(id, { signal }), [id], LIVE);
  const { data, error, reload } = endpoint;
  const back = [hrefOf('webhooks'), t('back')] as const;
  if (!data) {
    return (
      <Screen title={t('title')} back={back}>
        {error === undefined ? <Loading lines={8} /> : <Failure error={error} onRetry={() => void reload()} />}
      </Screen>
    );
  }
  return (
    <Screen title={data.description || hostOf(data.url)} back={back} lead={<bdi>{data.url}</bdi>}>
      {error !== undefined && (isPassing(error) ? <Note tone="warn">{word('stale')}</Note> : <Failure error={error} />)}
      {can('webhooks.write') && <Actions of={data} endpoint={endpoint} />}
      <div class="card">
        <Facts
          of={[
            [word('status'), <EndpointStatus key="status" of={data} />],
            [t('types'), <TypesOf key="types" of={data.types} />],
            [t('order'), t.of(`${data.ordering}_order`)],
            [t('batch'), String(data.batch.max)],
            [t('signing'), data.signature === 'hmac' ? 'HMAC-SHA256' : 'Ed25519'],
            [t('last'), `#${data.last_sequence}`],
            ...(data.rests_until === null ? [] : [[t('rests'), moment(data.rests_until)] as const]),
            [t('since'), <Ago key="since" at={data.created_at} />],
            ['ID', <Code key="id">{data.id}</Code>],
          ]}
        />
      </div>
      <Attempts id={id} />
    </Screen>
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

type Open =
  | { readonly what: 'edit' | 'replay' | 'rotate' | 'remove' }
  | { readonly what: 'secret'; readonly made: WebhookWithSecret };

interface ActionsProps {
  readonly of: Webhook;
  readonly endpoint: Resource<Webhook>;
}

function Actions({ of, endpoint }: ActionsProps) {
  const { id } = of;
  const open = useSignal<Open | undefined>(undefined);
  const pinged = useSignal<WebhookPing | undefined>(undefined);
  const replayed = useSignal<number | undefined>(undefined);
  const close = (): void => {
    open.value = undefined;
  };
  const test = useAction(async (idempotencyKey) => {
    pinged.value = undefined;
    pinged.value = await messaging().webhooks.test(id, { idempotencyKey });
  });
  const opening = (what: 'edit' | 'replay' | 'rotate' | 'remove') => () => {
    open.value = { what };
  };
  return (
    <>
      <div class="action-bar">
        <Button kind="main" busy={test.busy} onClick={() => void test.run()}>
          {t('test')}
        </Button>
        <Button onClick={opening('replay')}>{t('replay')}</Button>
        <Button onClick={opening('edit')}>{t('edit')}</Button>
        <Button onClick={opening('rotate')}>{t('rotate')}</Button>
        <Turn
          t={t}
          isOn={of.status === 'enabled'}
          enable={(idempotencyKey) => messaging().webhooks.enable(id, { idempotencyKey })}
          disable={(idempotencyKey) => messaging().webhooks.disable(id, { idempotencyKey })}
          onTurned={() => void endpoint.reload()}
        />
        <Button onClick={opening('remove')}>{t('remove')}</Button>
      </div>
      <div role="status">
        {pinged.value && <Pinged of={pinged.value} />}
        {replayed.value !== undefined && <Note tone="good">{t('replayed', { n: replayed.value })}</Note>}
      </div>
      <Failure error={test.error} />
      {open.value?.what === 'edit' && (
        <EndpointForm
          of={of}
          onClose={close}
          onDone={() => {
            close();
            void endpoint.reload();
          }}
        />
      )}
      {open.value?.what === 'replay' && (
        <Replay
          id={id}
          onClose={close}
          onDone={(events) => {
            close();
            replayed.value = events;
          }}
        />
      )}
      {open.value?.what === 'rotate' && (
        <Rotate
          id={id}
          onClose={close}
          onDone={(made) => {
            open.value = { what: 'secret', made };
          }}
        />
      )}
      {open.value?.what === 'secret' && <SecretDialog title={t('rotated')} of={open.value.made} onClose={close} />}
      {open.value?.what === 'remove' && (
        <Confirm
          title={t('removeThis')}
          verb={t('remove')}
          said={t('removed')}
          next="webhooks"
          change={() => messaging().webhooks.remove(id)}
          onClose={close}
        >
          <p>{t('removeWhat')}</p>
        </Confirm>
      )}
    </>
  );
}

function Pinged({ of: { status, ms, response } }: { readonly of: WebhookPing }) {
  const isGood = status !== null && status >= 200 && status < 300;
  const after = ms === null ? '' : t('testedAfter', { ms: Math.round(ms) });
  return (
    <>
      <Note tone={isGood ? 'good' : 'bad'}>
        {status === null ? t('testedNot', { after }) : t('tested', { status, after })}
      </Note>
      {response && <Body of={response} />}
    </>
  );
}

interface DialogProps<T> {
  readonly id: string;
  onDone(of: T): void;
  onClose(): void;
}

function Replay({ id, onDone, onClose }: DialogProps<number>) {
  const form = useForm(
    `replay-webhooks/${id}`,
    { which: 'failed', since: '', until: '', after: '' },
    async ({ which, since, until, after }, idempotencyKey) => {
      const query: ReplayQuery = {
        only_failed: which === 'failed' ? true : undefined,
        since: since === '' ? undefined : new Date(since).toISOString(),
        until: until === '' ? undefined : new Date(until).toISOString(),
        after: after === '' ? undefined : Number(after),
      };
      onDone((await messaging().webhooks.replay(id, query, { idempotencyKey })).events);
    },
  );
  const { values, set } = form;
  return (
    <Dialog title={t('replayTitle')} onClose={onClose}>
      <Form form={form} submit={t('replay')} onCancel={onClose}>
        <p>{t('replayWhat')}</p>
        <SelectField
          label={t('onlyFailed')}
          value={values.which}
          options={[
            ['failed', t('failedOnes')],
            ['all', t('allOnes')],
          ]}
          onInput={(which) => set({ which })}
        />
        <div class="pair">
          <TextField label={t('from')} type="datetime-local" value={values.since} onInput={(since) => set({ since })} />
          <TextField
            label={t('until')}
            type="datetime-local"
            value={values.until}
            onInput={(until) => set({ until })}
          />
        </div>
        <TextField label={t('after')} type="number" min={0} value={values.after} onInput={(after) => set({ after })} />
      </Form>
    </Dialog>
  );
}

function Rotate({ id, onDone, onClose }: DialogProps<WebhookWithSecret>) {
  const form = useForm(`rotate-webhooks/${id}`, { hours: '24' }, async ({ hours }, idempotencyKey) =>
    onDone(await messaging().webhooks.rotate(id, { keep_hours: Number(hours) }, { idempotencyKey })),
  );
  return (
    <Dialog title={t('rotate')} onClose={onClose}>
      <Form form={form} submit={t('rotate')} onCancel={onClose}>
        <p>{t('rotateWhat')}</p>
        <TextField
          label={t('keep')}
          required
          type="number"
          min={0}
          max={168}
          value={form.values.hours}
          onInput={(hours) => form.set({ hours })}
        />
      </Form>
    </Dialog>
  );
}
