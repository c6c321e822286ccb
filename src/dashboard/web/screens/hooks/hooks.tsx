import { useSignal } from '@preact/signals';
import type { LoginHook, LoginHookWithSecret } from '../../../../client/index.js';
import { Button } from '../../components/button.js';
import { Empty, Failure, Loading, Note } from '../../components/notes.js';
import { Screen } from '../../components/page.js';
import { Ago } from '../../components/shown.js';
import { Table } from '../../components/table.js';
import { messaging } from '../../core/clients.js';
import { isPassing } from '../../core/errors.js';
import { LIVE, useResource } from '../../core/resource.js';
import { hrefOf } from '../../core/router.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import { Hook } from './hook.js';
import { HookForm } from './hook-form.js';
import { channelName, HookStatus, hookName, SecretDialog } from './hook-parts.js';
import { kindName, t } from './hook-texts.js';

/** The log-in hooks of the account, or one of them. The address decides which. */
export function Hooks({ rest }: { readonly rest: string }) {
  return rest === '' ? <List /> : <Hook key={rest} id={rest} />;
}

function List() {
  const hooks = useResource((signal) => messaging().hooks.list({ signal }), [], LIVE);
  const { data, error, reload } = hooks;
  if (!data) {
    return (
      <Screen title={t('title')} lead={t('lead')}>
        {error === undefined ? <Loading lines={8} /> : <Failure error={error} onRetry={() => void reload()} />}
      </Screen>
    );
  }
  const stale =
    error !== undefined &&
    (isPassing(error) ? (
      <Note tone="warn">{word('stale')}</Note>
    ) : (
      <Failure error={error} onRetry={() => void reload()} />
    ));
  return <Found of={data.items} stale={stale} reload={() => void reload()} />;
}

interface FoundProps {
  readonly of: readonly LoginHook[];
  readonly stale: preact.ComponentChildren;
  reload(): void;
}

function Found({ of, stale, reload }: FoundProps) {
  const asking = useSignal(false);
  const made = useSignal<LoginHookWithSecret | undefined>(undefined);
  const make = can('hooks.send') && (
    <Button
      kind="main"
      onClick={() => {
        asking.value = true;
      }}
    >
      {t('make')}
    </Button>
  );
  return (
    <Screen title={t('title')} lead={t('lead')} actions={make}>
      {stale}
      {of.length === 0 ? (
        <Empty title={t('none')} action={make}>
          {t('noneHow')}
        </Empty>
      ) : (
        <Table
          caption={t('title')}
          rows={of}
          identity={({ id }) => id}
          columns={[
            { title: word('name'), cell: Name },
            { title: t('kind'), cell: ({ kind }) => kindName(kind) },
            { title: word('status'), cell: HookStatus },
            { title: t('signature'), cell: ({ signature }) => <bdi>{signature}</bdi> },
            { title: t('channel'), cell: ({ channel }) => <bdi>{channelName(channel)}</bdi> },
            { title: t('since'), cell: ({ created_at }) => <Ago at={created_at} /> },
          ]}
        />
      )}
      {asking.value && (
        <HookForm
          onClose={() => {
            asking.value = false;
          }}
          onDone={(hook) => {
            asking.value = false;
            made.value = hook;
            reload();
          }}
        />
      )}
      {made.value && (
        <SecretDialog
          title={t('made')}
          of={made.value}
          onClose={() => {
            made.value = undefined;
          }}
        />
      )}
    </Screen>
  );
}

function Name(hook: LoginHook) {
  return (
    <a href={hrefOf(`hooks/${encodeURIComponent(hook.id)}`)}>
      <bdi>{hookName(hook)}</bdi>
    </a>
  );
}
