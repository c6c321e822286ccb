import { useSignal } from '@preact/signals';
import type { Signature } from '../../../../client/manage/index.js';
import { Button } from '../../components/button.js';
import { Confirm, Dialog, Form } from '../../components/dialog.js';
import { TextField } from '../../components/field.js';
import { Empty } from '../../components/notes.js';
import { Screen } from '../../components/page.js';
import { Ago, Status } from '../../components/shown.js';
import { ListTable } from '../../components/table.js';
import { manage } from '../../core/clients.js';
import { useForm } from '../../core/form.js';
import { texts } from '../../core/i18n.js';
import { useList } from '../../core/resource.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';

const t = texts(
  {
    title: 'Signatures',
    lead: 'The sender that people see on their phones. A new signature is reviewed before you can use it.',
    ask: 'Request a sender name',
    empty: 'No signatures yet',
    emptyHow: 'Request the name that your messages should come from.',
    hint: '3 to 11 letters, digits or spaces, with at least one letter.',
    asked: 'Requested',
    decided: 'Decided',
    reason: 'Reason',
    everybody: 'For all accounts',
    withdraw: 'Withdraw',
    withdrawThis: 'Withdraw {name}',
    withdrawn: 'The request for {name} is withdrawn.',
    withdrawWhat: 'The request is withdrawn. You can make it again later.',
  },
  {
    title: 'Signatures',
    lead: 'L’expéditeur que les gens voient sur leur téléphone. Une nouvelle signature est examinée avant de servir.',
    ask: 'Demander un nom d’expéditeur',
    empty: 'Aucune signature',
    emptyHow: 'Demandez le nom sous lequel vos messages doivent arriver.',
    hint: '3 à 11 lettres, chiffres ou espaces, dont au moins une lettre.',
    asked: 'Demandée',
    decided: 'Décidée',
    reason: 'Motif',
    everybody: 'Pour tous les comptes',
    withdraw: 'Retirer',
    withdrawThis: 'Retirer {name}',
    withdrawn: 'La demande de {name} est retirée.',
    withdrawWhat: 'La demande est retirée. Vous pourrez la refaire.',
  },
);

/** The sender names of an account, and the operator's decisions about them. */
export function Signatures() {
  const list = useList(
    (options) => manage().account.signatures({}, options),
    [],
    ({ name }) => name,
    15_000,
  );
  const asking = useSignal(false);
  const withdrawn = useSignal<Signature | undefined>(undefined);
  const writes = can('signatures.write');
  const ask = writes && (
    <Button
      kind="main"
      onClick={() => {
        asking.value = true;
      }}
    >
      {t('ask')}
    </Button>
  );
  return (
    <Screen title={t('title')} lead={t('lead')} actions={ask}>
      <ListTable
        list={list}
        caption={t('title')}
        identity={({ name }) => name}
        empty={
          <Empty title={t('empty')} action={ask}>
            {t('emptyHow')}
          </Empty>
        }
        columns={[
          { title: word('name'), cell: ({ name }) => <bdi class="strong">{name}</bdi> },
          { title: word('status'), cell: ({ status }) => <Status of={status} /> },
          {
            title: t('reason'),
            cell: ({ reason, is_default }) => (is_default ? t('everybody') : reason && <bdi>{reason}</bdi>),
          },
          { title: t('asked'), cell: ({ created_at }) => created_at && <Ago at={created_at} /> },
          { title: t('decided'), cell: ({ decided_at }) => decided_at && <Ago at={decided_at} /> },
          {
            title: word('actions'),
            quiet: true,
            right: true,
            cell: (signature) =>
              writes &&
              signature.status === 'pending' && (
                <Button
                  label={t('withdrawThis', { name: signature.name })}
                  onClick={() => {
                    withdrawn.value = signature;
                  }}
                >
                  {t('withdraw')}
                </Button>
              ),
          },
        ]}
      />
      {asking.value && (
        <Ask
          onClose={(done) => {
            asking.value = false;
            if (done) void list.reload();
          }}
        />
      )}
      {withdrawn.value && (
        <Confirm
          title={t('withdrawThis', { name: withdrawn.value.name })}
          verb={t('withdraw')}
          said={t('withdrawn', { name: withdrawn.value.name })}
          change={withdraw(withdrawn.value)}
          onClose={(done) => {
            withdrawn.value = undefined;
            if (done) void list.reload();
          }}
        >
          <p>{t('withdrawWhat')}</p>
        </Confirm>
      )}
    </Screen>
  );
}

function withdraw({ name }: Signature) {
  return (): Promise<unknown> => manage().account.removeSignature(name);
}

function Ask({ onClose }: { onClose(done: boolean): void }) {
  const form = useForm('ask-signature', { name: '' }, async ({ name }, idempotencyKey) => {
    await manage().account.registerSignature(name, { idempotencyKey });
    onClose(true);
  });
  return (
    <Dialog title={t('ask')} onClose={() => onClose(false)}>
      <Form form={form} submit={t('ask')} onCancel={() => onClose(false)}>
        <TextField
          label={word('name')}
          required
          autofocus
          maxLength={11}
          hint={t('hint')}
          value={form.values.name}
          onInput={(name) => form.set({ name })}
        />
      </Form>
    </Dialog>
  );
}
