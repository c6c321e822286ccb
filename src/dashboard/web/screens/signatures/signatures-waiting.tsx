import { useSignal } from '@preact/signals';
import type { ManagedSignature } from '../../../../client/manage/index.js';
import { Button } from '../../components/button.js';
import { Confirm, Dialog, Form } from '../../components/dialog.js';
import { SelectField, TextField } from '../../components/field.js';
import { Empty } from '../../components/notes.js';
import { Filters, Screen } from '../../components/page.js';
import { Ago, Code, Status } from '../../components/shown.js';
import { ListTable } from '../../components/table.js';
import { manage } from '../../core/clients.js';
import { useForm } from '../../core/form.js';
import { texts } from '../../core/i18n.js';
import { LIVE, useList } from '../../core/resource.js';
import { choiceOf, setQuery } from '../../core/router.js';
import { can } from '../../core/session.js';
import { stateName, word } from '../../core/words.js';

const t = texts(
  {
    title: 'Signatures waiting',
    lead: 'Sender names that accounts have requested. Verify names that the carriers know and that the account may use.',
    empty: 'Nothing is waiting for you',
    emptyHow: 'Requests of accounts appear here at once.',
    asked: 'Requested',
    verify: 'Verify',
    verifyThis: 'Verify {name}',
    verified: '{account} can send as {name}.',
    verifyWhat: 'The account {account} can send as {name} at once.',
    reject: 'Reject',
    rejectThis: 'Reject {name}',
    reason: 'Reason',
    reasonHint: 'The account sees it.',
  },
  {
    title: 'Signatures en attente',
    lead: 'Les noms d’expéditeur que les comptes ont demandés. Validez ceux que les opérateurs connaissent et que le compte a le droit d’utiliser.',
    empty: 'Rien ne vous attend',
    emptyHow: 'Les demandes des comptes apparaissent ici aussitôt.',
    asked: 'Demandée',
    verify: 'Valider',
    verifyThis: 'Valider {name}',
    verified: '{account} peut envoyer sous {name}.',
    verifyWhat: 'Le compte {account} peut aussitôt envoyer sous {name}.',
    reject: 'Rejeter',
    rejectThis: 'Rejeter {name}',
    reason: 'Motif',
    reasonHint: 'Le compte le lit.',
  },
);

type Decision = { readonly verb: 'verify' | 'reject'; readonly signature: ManagedSignature };

const STATUSES = ['pending', 'verified', 'rejected'] as const;

/** The sender names that wait for a decision of the operator. */
export function SignaturesWaiting() {
  const status = choiceOf('status', STATUSES) ?? 'pending';
  const list = useList((options) => manage().operator.signatures({ status }, options), [status], identity, LIVE);
  const open = useSignal<Decision | undefined>(undefined);
  const close = (done: boolean): void => {
    open.value = undefined;
    if (done) void list.reload();
  };
  const decide = (verb: Decision['verb'], signature: ManagedSignature) => () => {
    open.value = { verb, signature };
  };
  return (
    <Screen title={t('title')} lead={t('lead')}>
      <Filters>
        <SelectField
          label={word('status')}
          value={status}
          options={STATUSES.map((each) => [each, stateName(each)])}
          onInput={(chosen) => setQuery({ status: chosen })}
        />
      </Filters>
      <ListTable
        list={list}
        caption={t('title')}
        identity={identity}
        empty={<Empty title={t('empty')}>{t('emptyHow')}</Empty>}
        columns={[
          { title: word('name'), cell: ({ name }) => <bdi class="strong">{name}</bdi> },
          {
            title: word('account'),
            cell: ({ account }) => (
              <a href={`#/manage/accounts/${encodeURIComponent(account)}`}>
                <Code>{account}</Code>
              </a>
            ),
          },
          { title: word('status'), cell: ({ status: each }) => <Status of={each} /> },
          { title: t('reason'), cell: ({ reason }) => reason && <bdi>{reason}</bdi> },
          { title: t('asked'), cell: ({ created_at }) => created_at && <Ago at={created_at} /> },
          {
            title: word('actions'),
            quiet: true,
            right: true,
            cell: (signature) =>
              can('manage.write') &&
              signature.status === 'pending' && (
                <div class="row-buttons">
                  <Button label={t('verifyThis', signature)} kind="main" onClick={decide('verify', signature)}>
                    {t('verify')}
                  </Button>
                  <Button label={t('rejectThis', signature)} onClick={decide('reject', signature)}>
                    {t('reject')}
                  </Button>
                </div>
              ),
          },
        ]}
      />
      {open.value?.verb === 'verify' && (
        <Confirm
          title={t('verifyThis', open.value.signature)}
          verb={t('verify')}
          said={t('verified', open.value.signature)}
          danger={false}
          change={verify(open.value.signature)}
          onClose={close}
        >
          <p dir="auto">{t('verifyWhat', open.value.signature)}</p>
        </Confirm>
      )}
      {open.value?.verb === 'reject' && <Reject of={open.value.signature} onClose={close} />}
    </Screen>
  );
}

function verify({ account, name }: ManagedSignature) {
  return (idempotencyKey: string): Promise<unknown> =>
    manage().operator.verifySignature(account, name, { idempotencyKey });
}

function Reject({ of, onClose }: { readonly of: ManagedSignature; onClose(done: boolean): void }) {
  const form = useForm(`reject-${identity(of)}`, { reason: '' }, async ({ reason }, idempotencyKey) => {
    await manage().operator.rejectSignature(of.account, of.name, { reason }, { idempotencyKey });
    onClose(true);
  });
  return (
    <Dialog title={t('rejectThis', of)} onClose={() => onClose(false)}>
      <Form form={form} submit={t('reject')} danger onCancel={() => onClose(false)}>
        <TextField
          label={t('reason')}
          required
          autofocus
          maxLength={200}
          hint={t('reasonHint')}
          value={form.values.reason}
          onInput={(reason) => form.set({ reason })}
        />
      </Form>
    </Dialog>
  );
}

function identity({ account, name }: ManagedSignature): string {
  return `${account} ${name}`;
}
