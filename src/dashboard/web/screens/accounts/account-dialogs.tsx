import { useSignal } from '@preact/signals';
import { ACCOUNT_ROLES } from '../../../../accounts/keys/permissions.js';
import type { AccountRole, Link as LinkView, ManagedAccount } from '../../../../client/manage/index.js';
import { CopyButton } from '../../components/button.js';
import { Confirm, Dialog, Form } from '../../components/dialog.js';
import { SelectField, TextField } from '../../components/field.js';
import { Note } from '../../components/notes.js';
import { manage } from '../../core/clients.js';
import { useForm } from '../../core/form.js';
import { moment } from '../../core/format.js';
import { word } from '../../core/words.js';
import { t } from './account-texts.js';

interface PostProps {
  readonly of: ManagedAccount;
  readonly what: 'topup' | 'adjust';
  /** Called with the new balance, or with undefined if nothing was posted. */
  onClose(balance: number | undefined): void;
}

/** Adds units to a balance, or takes some away. */
export function Post({ of, what, onClose }: PostProps) {
  const form = useForm(`${what}-${of.id}`, { units: '', reference: '', note: '' }, async (values, idempotencyKey) => {
    const order = { units: Number(values.units), reference: values.reference, note: values.note || undefined };
    const { operator } = manage();
    const { balance } = await (what === 'topup'
      ? operator.topUp(of.id, order, { idempotencyKey })
      : operator.adjust(of.id, order, { idempotencyKey }));
    onClose(balance);
  });
  const { values, set } = form;
  const close = (): void => onClose(undefined);
  return (
    <Dialog title={t(`${what}This`, { name: of.name })} onClose={close}>
      <Form form={form} submit={t(what)} onCancel={close}>
        <TextField
          label={word('units')}
          required
          autofocus
          type="number"
          {...(what === 'topup' ? { min: 1 } : { hint: t('adjustHint') })}
          value={values.units}
          onInput={(units) => set({ units })}
        />
        <TextField
          label={t('reference')}
          required
          hint={t('referenceHint')}
          value={values.reference}
          onInput={(reference) => set({ reference })}
        />
        <TextField label={word('note')} value={values.note} onInput={(note) => set({ note })} />
      </Form>
    </Dialog>
  );
}

/** Changes the name of an account, and the balance below which it is warned. */
export function Change({ of, onClose }: { readonly of: ManagedAccount; onClose(done: boolean): void }) {
  const initial = { name: of.name, low: of.low_balance === null ? '' : String(of.low_balance) };
  const form = useForm(`change-${of.id}-${JSON.stringify(initial)}`, initial, async ({ name, low }) => {
    await manage().operator.changeAccount(of.id, { name, low_balance: low === '' ? null : Number(low) });
    onClose(true);
  });
  const { values, set } = form;
  return (
    <Dialog title={t('renameThis', { name: of.name })} onClose={() => onClose(false)}>
      <Form form={form} submit={word('save')} onCancel={() => onClose(false)}>
        <TextField label={word('name')} required autofocus value={values.name} onInput={(name) => set({ name })} />
        <TextField
          label={t('low')}
          type="number"
          min={0}
          hint={t('lowHint')}
          value={values.low}
          onInput={(low) => set({ low })}
        />
      </Form>
    </Dialog>
  );
}

const NEW_LINK: { readonly role: AccountRole; readonly subject: string; readonly minutes: string } = {
  role: 'admin',
  subject: '',
  minutes: '10',
};

/** Makes a one-time link for a user of an account, and shows it once. */
export function Link({ of, onClose }: { readonly of: ManagedAccount; onClose(): void }) {
  const made = useSignal<LinkView | undefined>(undefined);
  const form = useForm(`link-${of.id}`, NEW_LINK, async (values, idempotencyKey) => {
    const { role, subject, minutes } = values;
    const order = { account: of.id, role, minutes: Number(minutes), subject: subject || undefined };
    made.value = await manage().operator.link(order, { idempotencyKey });
  });
  const { values, set } = form;
  return (
    <Dialog title={t('linkThis', { name: of.name })} onClose={onClose}>
      {made.value ? (
        <Made of={made.value} />
      ) : (
        <Form form={form} submit={t('makeLink')} onCancel={onClose}>
          <p>{t('linkHow')}</p>
          <SelectField
            label={t('role')}
            value={values.role}
            options={ACCOUNT_ROLES.map((role) => [role, t(role)])}
            onInput={(role) => set({ role })}
          />
          <div class="pair">
            <TextField
              label={t('who')}
              hint={t('whoHint')}
              value={values.subject}
              onInput={(subject) => set({ subject })}
            />
            <TextField
              label={t('minutes')}
              required
              type="number"
              min={1}
              max={1440}
              value={values.minutes}
              onInput={(minutes) => set({ minutes })}
            />
          </div>
        </Form>
      )}
    </Dialog>
  );
}

function Made({ of: { url_fragment: fragment, expires_at } }: { readonly of: LinkView }) {
  if (fragment === null) return <Note tone="warn">{t('linkLost')}</Note>;
  const link = `${location.origin}${location.pathname}${fragment}`;
  return (
    <div class="form">
      <Note tone="warn">{t('linkMade', { at: moment(expires_at) })}</Note>
      <div class="secret">
        <code>{link}</code>
        <CopyButton text={link} label={t('link')} />
      </div>
    </div>
  );
}

/** Closes an account for good. The operator types its name, because nothing can take this back. */
export function Close({ of, onClose }: { readonly of: ManagedAccount; onClose(done: boolean): void }) {
  const { id, name, balance } = of;
  const typed = useSignal('');
  return (
    <Confirm
      title={t('closeThis', { name })}
      verb={t('close')}
      disabled={typed.value.trim() !== name}
      change={(idempotencyKey) => manage().operator.closeAccount(id, { idempotencyKey })}
      said={t('closeDone', { name })}
      onClose={onClose}
    >
      <p>{t('closeWhat')}</p>
      {balance > 0 && <p>{t('closeUnits', { n: balance })}</p>}
      <TextField
        label={t('closeName', { name })}
        value={typed.value}
        onInput={(value) => {
          typed.value = value;
        }}
      />
    </Confirm>
  );
}
