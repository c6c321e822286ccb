import { useSignal } from '@preact/signals';
import type { LoginHook, LoginHookCall, LoginHookWithSecret } from '../../../../client/index.js';
import { Button } from '../../components/button.js';
import { Confirm, Dialog, Form } from '../../components/dialog.js';
import { TextField } from '../../components/field.js';
import { Empty, Failure, Loading, Note } from '../../components/notes.js';
import { Facts, Screen, Section } from '../../components/page.js';
import { Ago, Code, Status, type Tone } from '../../components/shown.js';
import { Table } from '../../components/table.js';
import { messaging } from '../../core/clients.js';
import { isPassing } from '../../core/errors.js';
import { useForm } from '../../core/form.js';
import { number } from '../../core/format.js';
import { LIVE, useResource } from '../../core/resource.js';
import { hrefOf } from '../../core/router.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import { cleanNumber } from '../shared/number.js';
import { Turn } from '../shared/turn.js';
import '../shared/parts.css';
import { SecretField } from './hook-form.js';
import { channelName, HookStatus, hookName, SecretDialog, ToCopy } from './hook-parts.js';
import { kindName, outcomeName, t } from './hook-texts.js';
import './hooks.css';

const GOOD: Readonly<Partial<Record<LoginHookCall['outcome'], Tone>>> = { accepted: 'good', repeated: 'calm' };

/** One hook: its URL, its settings, its last calls, and the actions on it. */
export function Hook({ id }: { readonly id: string }) {
  const { data: of, error, reload } = useResource((signal) => messaging().hooks.get(id, { signal }), [id], LIVE);
  const calls = useResource((signal) => messaging().hooks.calls(id, { signal }), [id], LIVE);
  const back = [hrefOf('hooks'), t('back')] as const;
  if (!of) {
    return (
      <Screen title={t('title')} back={back}>
        {error === undefined ? <Loading lines={8} /> : <Failure error={error} onRetry={() => void reload()} />}
      </Screen>
    );
  }
  const { daily_units: daily, max_segments: segments } = of.limits;
  return (
    <Screen title={hookName(of)} back={back} lead={t('leadOf', { kind: kindName(of.kind) })}>
      {error !== undefined && (isPassing(error) ? <Note tone="warn">{word('stale')}</Note> : <Failure error={error} />)}
      <Actions of={of} reload={reload} onTested={() => void calls.reload()} />
      <div class="card">
        <h2 class="hook-url">{t('url')}</h2>
        <ToCopy of={of.url} label={t('url')} />
        <Facts
          of={[
            [word('status'), <HookStatus key="status" status={of.status} />],
            [t('kind'), kindName(of.kind)],
            [t('signature'), <bdi key="signature">{of.signature}</bdi>],
            [t('channel'), <bdi key="channel">{channelName(of.channel)}</bdi>],
            [t('segments'), number(segments)],
            [t('daily'), daily === null ? t('noLimit') : number(daily)],
            ...Object.entries(of.mapping ?? {}).map(
              ([field, pointer]) => [t.of(`at_${field}`), <Code key={field}>{pointer}</Code>] as const,
            ),
            ...(of.proof === null
              ? []
              : [
                  [
                    t('proof'),
                    `${t.of(`proof_${of.proof.encoding ?? 'header'}`)}, ${t('header')} ${of.proof.header}`,
                  ] as const,
                ]),
            [t('since'), <Ago key="since" at={of.created_at} />],
            ['ID', <Code key="id">{of.id}</Code>],
          ]}
        />
      </div>
      <Section title={t('calls')}>
        <Failure error={calls.error} onRetry={() => void calls.reload()} />
        {calls.data ? <Calls of={calls.data.items} /> : calls.error === undefined && <Loading lines={4} />}
      </Section>
    </Screen>
  );
}

function Calls({ of }: { readonly of: readonly LoginHookCall[] }) {
  if (of.length === 0) return <Empty title={t('callsNone')}>{t('callsHow')}</Empty>;
  return (
    <Table
      caption={t('calls')}
      rows={of}
      identity={({ id }) => id}
      columns={[
        { title: word('time'), cell: ({ at }) => <Ago at={at} /> },
        { title: t('outcome'), cell: Outcome },
        { title: word('number'), cell: (call) => <bdi>{call.number ?? '–'}</bdi> },
        { title: t('message'), cell: Message },
      ]}
    />
  );
}

function Outcome({ outcome, test }: LoginHookCall) {
  return (
    <span>
      <Status of={outcome} tone={GOOD[outcome] ?? 'bad'} text={outcomeName(outcome)} />
      {test && <span class="soft"> {t('isTest')}</span>}
    </span>
  );
}

function Message({ message, at }: LoginHookCall) {
  if (message === null) return <>–</>;
  return (
    <a href={hrefOf(`messages/${encodeURIComponent(message)}`)}>
      {t('show')}
      <span class="hidden-text"> {at}</span>
    </a>
  );
}

type Open =
  | { readonly what: 'test' | 'rotate' | 'remove' }
  | { readonly what: 'secret'; readonly made: LoginHookWithSecret };

interface ActionsProps {
  readonly of: LoginHook;
  reload(): Promise<void>;
  onTested(): void;
}

function Actions({ of, reload, onTested }: ActionsProps) {
  const { id } = of;
  const open = useSignal<Open | undefined>(undefined);
  const tested = useSignal(false);
  const close = (): void => {
    open.value = undefined;
  };
  const opening = (what: 'test' | 'rotate' | 'remove') => () => {
    tested.value = false;
    open.value = { what };
  };
  return (
    <>
      <div class="action-bar">
        {can('hooks.send') && (
          <Button kind="main" onClick={opening('test')}>
            {t('test')}
          </Button>
        )}
        {can('hooks.write') && (
          <>
            <Button onClick={opening('rotate')}>{t('rotate')}</Button>
            <Turn
              t={t}
              isOn={of.status === 'enabled'}
              enable={(idempotencyKey) => messaging().hooks.enable(id, { idempotencyKey })}
              disable={(idempotencyKey) => messaging().hooks.disable(id, { idempotencyKey })}
              onTurned={() => {
                tested.value = false;
                void reload();
              }}
            />
            <Button onClick={opening('remove')}>{t('remove')}</Button>
          </>
        )}
      </div>
      <div role="status">{tested.value && <Note tone="good">{t('tested')}</Note>}</div>
      {open.value?.what === 'test' && (
        <Test
          id={id}
          onClose={close}
          onDone={() => {
            close();
            tested.value = true;
            onTested();
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
          next="hooks"
          change={() => messaging().hooks.remove(id)}
          onClose={close}
        >
          <p>{t('removeWhat')}</p>
        </Confirm>
      )}
    </>
  );
}

interface DialogProps<T extends readonly unknown[]> {
  readonly id: string;
  onDone(...of: T): void;
  onClose(): void;
}

function Test({ id, onDone, onClose }: DialogProps<[]>) {
  const form = useForm(`test-hook/${id}`, { to: '' }, async ({ to }, idempotencyKey) => {
    await messaging().hooks.test(id, { number: cleanNumber(to) ?? to.trim() }, { idempotencyKey });
    onDone();
  });
  return (
    <Dialog title={t('test')} onClose={onClose}>
      <Form form={form} submit={t('testSend')} onCancel={onClose}>
        <p>{t('testWhat')}</p>
        <TextField
          label={word('number')}
          required
          autofocus
          type="tel"
          placeholder="+226 70 11 22 33"
          value={form.values.to}
          onInput={(to) => form.set({ to })}
        />
      </Form>
    </Dialog>
  );
}

function Rotate({ id, onDone, onClose }: DialogProps<[LoginHookWithSecret]>) {
  const form = useForm(`rotate-hook/${id}`, { hours: '24', secret: '' }, async ({ hours, secret }, idempotencyKey) => {
    const order = { keep_hours: Number(hours), secret: secret.trim() || undefined };
    onDone(await messaging().hooks.rotate(id, order, { idempotencyKey }));
  });
  const { values, set } = form;
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
          value={values.hours}
          onInput={(hours) => set({ hours })}
        />
        <SecretField value={values.secret} onInput={(secret) => set({ secret })} />
      </Form>
    </Dialog>
  );
}
