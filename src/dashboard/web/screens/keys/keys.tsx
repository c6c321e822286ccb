import { useSignal } from '@preact/signals';
import type { Key, KeyWithSecret } from '../../../../client/manage/index.js';
import { Button, CopyButton } from '../../components/button.js';
import { Confirm, Dialog, Form } from '../../components/dialog.js';
import { TextField } from '../../components/field.js';
import { Empty, Note } from '../../components/notes.js';
import { Screen } from '../../components/page.js';
import { Ago, Code, Status } from '../../components/shown.js';
import { type Column, ListTable } from '../../components/table.js';
import { manage } from '../../core/clients.js';
import { useForm } from '../../core/form.js';
import { moment, number } from '../../core/format.js';
import { useList } from '../../core/resource.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import { KeyForm } from './key-form.js';
import { t } from './key-texts.js';

type Open =
  | { readonly what: 'make' }
  | { readonly what: 'rotate' | 'revoke'; readonly key: Key }
  | { readonly what: 'made'; readonly made: KeyWithSecret };

/** The keys of programs, with their scopes and last uses. */
export function Keys() {
  const list = useList(
    (options) => manage().account.keys({}, options),
    [],
    ({ id }) => id,
    15_000,
  );
  const open = useSignal<Open | undefined>(undefined);
  const writes = can('keys.write');
  const close = (): void => {
    open.value = undefined;
  };
  const made = (key: KeyWithSecret): void => {
    open.value = { what: 'made', made: key };
    void list.reload();
  };
  const make = writes && (
    <Button kind="main" onClick={() => (open.value = { what: 'make' })}>
      {t('make')}
    </Button>
  );
  const columns: readonly Column<Key>[] = [
    { title: word('name'), cell: (key) => <KeyName of={key} /> },
    { title: word('status'), cell: ({ status }) => <Status of={status} /> },
    { title: t('scopes'), cell: ({ scopes }) => <Scopes of={scopes} /> },
    { title: t('spent'), right: true, cell: Spent },
    { title: t('used'), cell: LastUse },
    { title: t('expires'), cell: ({ expires_at }) => (expires_at === null ? word('never') : moment(expires_at)) },
    ...(writes
      ? [
          {
            title: word('actions'),
            quiet: true,
            right: true,
            cell: (key: Key) =>
              key.status === 'active' && (
                <div class="row-buttons">
                  <Button
                    label={t('rotateThis', { name: nameOf(key) })}
                    onClick={() => (open.value = { what: 'rotate', key })}
                  >
                    {t('rotate')}
                  </Button>
                  <Button
                    label={t('revokeThis', { name: nameOf(key) })}
                    onClick={() => (open.value = { what: 'revoke', key })}
                  >
                    {t('revoke')}
                  </Button>
                </div>
              ),
          },
        ]
      : []),
  ];
  return (
    <Screen title={t('title')} lead={t('lead')} actions={make}>
      <ListTable
        list={list}
        caption={t('title')}
        columns={columns}
        identity={({ id }) => id}
        empty={
          <Empty title={t('empty')} action={make}>
            {t('emptyHow')}
          </Empty>
        }
      />
      <Opened open={open.value} onMade={made} onClose={close} onChanged={() => void list.reload()} />
    </Screen>
  );
}

interface OpenedProps {
  readonly open: Open | undefined;
  onMade(key: KeyWithSecret): void;
  onClose(): void;
  onChanged(): void;
}

function Opened({ open, onMade, onClose, onChanged }: OpenedProps) {
  switch (open?.what) {
    case 'make':
      return <KeyForm onMade={onMade} onClose={onClose} />;
    case 'rotate':
      return <Rotate of={open.key} onMade={onMade} onClose={onClose} />;
    case 'made':
      return <Made of={open.made} onClose={onClose} />;
    case 'revoke':
      return (
        <Confirm
          title={t('revokeThis', { name: nameOf(open.key) })}
          verb={t('revoke')}
          said={t('revoked', { name: nameOf(open.key) })}
          change={() => manage().account.revokeKey(open.key.id)}
          onClose={(done) => {
            onClose();
            if (done) onChanged();
          }}
        >
          <p>{t('revokeWhat')}</p>
        </Confirm>
      );
    default:
      return null;
  }
}

function Rotate({ of, onMade, onClose }: { readonly of: Key } & Pick<OpenedProps, 'onMade' | 'onClose'>) {
  const form = useForm(`rotate-${of.id}`, { hours: '24' }, async ({ hours }, idempotencyKey) =>
    onMade(await manage().account.rotateKey(of.id, { grace_hours: Number(hours) }, { idempotencyKey })),
  );
  return (
    <Dialog title={t('rotateThis', { name: nameOf(of) })} onClose={onClose}>
      <Form form={form} submit={t('rotate')} onCancel={onClose}>
        <p>{t('rotateWhat')}</p>
        <TextField
          label={t('grace')}
          required
          type="number"
          min={0}
          max={8760}
          value={form.values.hours}
          onInput={(hours) => form.set({ hours })}
        />
      </Form>
    </Dialog>
  );
}

/** Shows the key. It is never shown again. */
function Made({ of, onClose }: { readonly of: KeyWithSecret; onClose(): void }) {
  return (
    <Dialog title={t('made', { name: nameOf(of) })} kept={of.key !== null} onClose={onClose}>
      <div class="form">
        {of.key === null ? (
          <Note tone="warn">{t('madeBefore')}</Note>
        ) : (
          <>
            <Note tone="warn">{t('once')}</Note>
            <div class="secret">
              <code>{of.key}</code>
              <CopyButton text={of.key} label={nameOf(of)} />
            </div>
            <p class="hint">{t('use')}</p>
          </>
        )}
        <div class="buttons">
          <Button kind="main" onClick={onClose}>
            {t('kept')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function KeyName({ of }: { readonly of: Key }) {
  return (
    <div>
      {of.name && (
        <>
          <bdi class="strong">{of.name}</bdi>
          <br />
        </>
      )}
      <Code>{of.id}</Code>
    </div>
  );
}

/** Returns the name of a key, or its id, because keys that the host's own code has made may have no name. */
function nameOf({ name, id }: Key): string {
  return name ?? id;
}

function Scopes({ of }: { readonly of: readonly string[] }) {
  if (of.length >= 9) return <>{t('allScopes')}</>;
  return <span class="soft">{of.join(', ')}</span>;
}

/** Shows when a key was last used. This is recorded a little later than the spent units of the key. */
function LastUse({ last_used_at: at, spent_today: spent }: Key) {
  return at === null && spent !== null && spent > 0 ? t('usedToday') : <Ago at={at} />;
}

function Spent({ spent_today: spent, daily_units: cap }: Key) {
  if (spent === null) return '–';
  return cap === null ? number(spent) : t('spentOf', { spent, cap });
}
