import type { KeyOrder, KeyScope, KeyWithSecret } from '../../../../client/manage/index.js';
import { Dialog, Form } from '../../components/dialog.js';
import { Checks, TextField } from '../../components/field.js';
import { manage } from '../../core/clients.js';
import { useForm } from '../../core/form.js';
import { word } from '../../core/words.js';
import { scopeName, t } from './key-texts.js';

interface Values {
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  readonly cidrs: string;
  readonly expires: string;
  readonly daily: string;
  readonly perMinute: string;
  readonly recipients: string;
  readonly confirmAbove: string;
}

const NEW: Values = {
  name: '',
  scopes: [],
  cidrs: '',
  expires: '',
  daily: '',
  perMinute: '',
  recipients: '',
  confirmAbove: '',
};

/** The form that makes a key. */
export function KeyForm({ onMade, onClose }: { onMade(key: KeyWithSecret): void; onClose(): void }) {
  const form = useForm('new-key', NEW, async (values, idempotencyKey) =>
    onMade(await manage().account.createKey(orderOf(values), { idempotencyKey })),
  );
  const { values, set } = form;
  return (
    <Dialog title={t('make')} onClose={onClose}>
      <Form form={form} submit={t('make')} onCancel={onClose}>
        <TextField
          label={word('name')}
          required
          autofocus
          maxLength={100}
          hint={t('nameHint')}
          value={values.name}
          onInput={(name) => set({ name })}
        />
        <Checks
          label={t('scopes')}
          hint={t('scopesHint')}
          needed={t('scopesNeeded')}
          options={scopeName.keys.map((scope) => [scope, scopeName(scope)])}
          chosen={values.scopes}
          onInput={(scopes) => set({ scopes })}
        />
        <div class="pair">
          <TextField
            label={t('dailyUnits')}
            type="number"
            min={1}
            hint={t('dailyHint')}
            value={values.daily}
            onInput={(daily) => set({ daily })}
          />
          <TextField
            label={t('perMinute')}
            type="number"
            min={1}
            value={values.perMinute}
            onInput={(perMinute) => set({ perMinute })}
          />
        </div>
        <TextField
          label={t('expires')}
          type="datetime-local"
          hint={t('expiresHint')}
          value={values.expires}
          onInput={(expires) => set({ expires })}
        />
        <TextField
          label={t('cidrs')}
          rows={3}
          hint={t('cidrsHint')}
          value={values.cidrs}
          onInput={(cidrs) => set({ cidrs })}
        />
        <TextField
          label={t('recipients')}
          rows={3}
          hint={t('recipientsHint')}
          value={values.recipients}
          onInput={(recipients) => set({ recipients })}
        />
        <TextField
          label={t('confirmAbove')}
          type="number"
          min={0}
          hint={t('confirmAboveHint')}
          value={values.confirmAbove}
          onInput={(confirmAbove) => set({ confirmAbove })}
        />
      </Form>
    </Dialog>
  );
}

function orderOf({ name, scopes, expires, daily, perMinute, confirmAbove, ...lists }: Values): KeyOrder {
  return {
    name: name.trim(),
    scopes,
    cidrs: entriesOf(lists.cidrs),
    recipients: entriesOf(lists.recipients),
    expires_at: expires === '' ? undefined : new Date(expires).toISOString(),
    daily_units: daily === '' ? undefined : Number(daily),
    per_minute: perMinute === '' ? undefined : Number(perMinute),
    confirm_above: confirmAbove === '' ? undefined : Number(confirmAbove),
  };
}

/** The entries of a list that was typed; undefined if there are none. */
function entriesOf(text: string): readonly string[] | undefined {
  const entries = text.split(/[\s,;]+/).filter((each) => each !== '');
  return entries.length === 0 ? undefined : entries;
}
