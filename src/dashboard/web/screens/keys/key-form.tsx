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
}

const NEW: Values = { name: '', scopes: [], cidrs: '', expires: '', daily: '', perMinute: '' };

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
      </Form>
    </Dialog>
  );
}

function orderOf({ name, scopes, cidrs, expires, daily, perMinute }: Values): KeyOrder {
  const addresses = cidrs.split(/[\s,;]+/).filter((each) => each !== '');
  return {
    name: name.trim(),
    scopes,
    cidrs: addresses.length === 0 ? undefined : addresses,
    expires_at: expires === '' ? undefined : new Date(expires).toISOString(),
    daily_units: daily === '' ? undefined : Number(daily),
    per_minute: perMinute === '' ? undefined : Number(perMinute),
  };
}
