import { useSignal } from '@preact/signals';
import { Button } from '../../components/button.js';
import { Confirm, Dialog, Form } from '../../components/dialog.js';
import { SelectField, TextField } from '../../components/field.js';
import { Failure, Loading, Note } from '../../components/notes.js';
import { Facts, Screen } from '../../components/page.js';
import { Ago, Code } from '../../components/shown.js';
import { api } from '../../core/api.js';
import { isPassing } from '../../core/errors.js';
import { useAction, useForm } from '../../core/form.js';
import { moment } from '../../core/format.js';
import { LIVE, type Resource, useResource } from '../../core/resource.js';
import { chosenAccount, go, hrefOf } from '../../core/router.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import { Attempts } from './attempts.js';
import { EndpointForm } from './endpoint-form.js';
import { Body, EndpointStatus, SecretDialog } from './endpoint-parts.js';
import { t } from './webhook-texts.js';
import type { EndpointView, EndpointWithSecret, PingResult } from './webhook-types.js';
import { TypesOf } from './webhooks.js';

/** One endpoint: what it is, what it was called with, and what can be done with it. */
export function Endpoint({ id }: { readonly id: string }) {
  const path = `webhooks/${encodeURIComponent(id)}`;
  const endpoint = useResource<EndpointView>((signal) => api.get(path, {}, signal), [id, chosenAccount()], LIVE);
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
      {can('webhooks.write') && <Actions of={data} endpoint={endpoint} path={path} />}
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
  | { readonly what: 'secret'; readonly made: EndpointWithSecret };

interface ActionsProps {
  readonly of: EndpointView;
  readonly endpoint: Resource<EndpointView>;
  readonly path: string;
}

function Actions({ of, endpoint, path }: ActionsProps) {
  const open = useSignal<Open | undefined>(undefined);
  const pinged = useSignal<PingResult | undefined>(undefined);
  const replayed = useSignal<number | undefined>(undefined);
  const close = (): void => {
    open.value = undefined;
  };
  const test = useAction(async (key) => {
    pinged.value = undefined;
    pinged.value = await api.post<PingResult>(`${path}/test`, {}, key);
  });
  const isOn = of.status === 'enabled';
  const turn = useAction(async (key) => {
    await api.post(`${path}/${isOn ? 'disable' : 'enable'}`, {}, key);
    await endpoint.reload();
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
        <Button busy={turn.busy} onClick={() => void turn.run()}>
          {t(isOn ? 'disable' : 'enable')}
        </Button>
        <Button onClick={opening('remove')}>{t('remove')}</Button>
      </div>
      <div role="status">
        {pinged.value && <Pinged of={pinged.value} />}
        {replayed.value !== undefined && <Note tone="good">{t('replayed', { n: replayed.value })}</Note>}
      </div>
      <Failure error={test.error ?? turn.error} />
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
          path={path}
          onClose={close}
          onDone={(events) => {
            close();
            replayed.value = events;
          }}
        />
      )}
      {open.value?.what === 'rotate' && (
        <Rotate
          path={path}
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
          change={() => api.delete(path)}
          onClose={(done) => {
            close();
            if (done) go('webhooks');
          }}
        >
          <p>{t('removeWhat')}</p>
        </Confirm>
      )}
    </>
  );
}

function Pinged({ of: { status, ms, response } }: { readonly of: PingResult }) {
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
  readonly path: string;
  onDone(of: T): void;
  onClose(): void;
}

function Replay({ path, onDone, onClose }: DialogProps<number>) {
  const form = useForm(
    `replay-${path}`,
    { which: 'failed', since: '', until: '', after: '' },
    async ({ which, since, until, after }, key) => {
      const body = {
        ...(which === 'failed' && { only_failed: true }),
        ...(since !== '' && { since: new Date(since).toISOString() }),
        ...(until !== '' && { until: new Date(until).toISOString() }),
        ...(after !== '' && { after: Number(after) }),
      };
      onDone((await api.post<{ readonly events: number }>(`${path}/replay`, body, key)).events);
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

function Rotate({ path, onDone, onClose }: DialogProps<EndpointWithSecret>) {
  const form = useForm(`rotate-${path}`, { hours: '24' }, async ({ hours }, key) =>
    onDone(await api.post<EndpointWithSecret>(`${path}/rotate`, { keep_hours: Number(hours) }, key)),
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
