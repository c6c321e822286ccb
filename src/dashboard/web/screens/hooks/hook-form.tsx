import type { LoginHookOrder, LoginHookWithSecret } from '../../../../client/index.js';
import { Dialog, Form } from '../../components/dialog.js';
import { SelectField, TextField } from '../../components/field.js';
import { Failure, Loading, Note } from '../../components/notes.js';
import { messaging } from '../../core/clients.js';
import { type FormState, useForm } from '../../core/form.js';
import { me } from '../../core/session.js';
import { word } from '../../core/words.js';
import { useSenders } from '../shared/senders.js';
import { channelName } from './hook-parts.js';
import { kindName, t } from './hook-texts.js';

interface Values {
  readonly kind: LoginHookOrder['kind'];
  readonly name: string;
  readonly signature: string;
  readonly channel: string;
  readonly secret: string;
  readonly segments: string;
  readonly daily: string;
  readonly number: string;
  readonly brings: 'code' | 'text';
  readonly content: string;
  readonly id: string;
  readonly validFor: string;
  readonly proof: 'header' | 'hex' | 'base64';
  readonly header: string;
}

const NEW: Values = {
  kind: 'supabase',
  name: '',
  signature: '',
  channel: '',
  secret: '',
  segments: '2',
  daily: '',
  number: '',
  brings: 'code',
  content: '',
  id: '',
  validFor: '',
  proof: 'header',
  header: 'Authorization',
};

/** The form that makes a hook. */
export function HookForm({ onDone, onClose }: { onDone(hook: LoginHookWithSecret): void; onClose(): void }) {
  const senders = useSenders();
  const { sms = false, msgapp = [] } = me.value?.capabilities ?? {};
  const channels = [...(sms ? ['sms'] : []), ...msgapp];
  const form = useForm('new-hook', NEW, async (values: Values, idempotencyKey) => {
    const order = orderOf(values, chosenOf(values.signature, senders.names), chosenOf(values.channel, channels));
    onDone(await messaging().hooks.create(order, { idempotencyKey }));
  });
  const { values, set } = form;
  if (!senders.isLoaded && senders.error === undefined) {
    return (
      <Dialog key="loading" title={t('make')} onClose={onClose}>
        <Loading lines={6} />
      </Dialog>
    );
  }
  return (
    <Dialog key="form" title={t('make')} onClose={onClose}>
      <Form form={form} submit={t('make')} onCancel={onClose}>
        <SelectField
          label={t('kind')}
          value={values.kind}
          options={kindName.keys.map((kind) => [kind, kindName(kind)])}
          onInput={(kind) => set({ kind })}
        />
        <TextField
          label={word('name')}
          autofocus
          maxLength={64}
          hint={t('nameHint')}
          value={values.name}
          onInput={(name) => set({ name })}
        />
        <Failure error={senders.error} onRetry={senders.reload} />
        {senders.isLoaded && senders.names.length === 0 && <Note tone="warn">{t('noSignature')}</Note>}
        <div class="pair">
          <SelectField
            label={t('signature')}
            value={chosenOf(values.signature, senders.names)}
            options={senders.names.map((name) => [name, name])}
            onInput={(chosen) => set({ signature: chosen })}
          />
          <SelectField
            label={t('channel')}
            value={chosenOf(values.channel, channels)}
            options={channels.map((each) => [each, channelName(each)])}
            onInput={(chosen) => set({ channel: chosen })}
          />
        </div>
        {values.kind === 'generic' && <GenericFields form={form} />}
        <div class="pair">
          <TextField
            label={t('segments')}
            required
            type="number"
            min={1}
            max={10}
            value={values.segments}
            onInput={(segments) => set({ segments })}
          />
          <TextField
            label={t('daily')}
            type="number"
            min={1}
            max={1_000_000_000}
            value={values.daily}
            onInput={(daily) => set({ daily })}
          />
        </div>
        <SecretField value={values.secret} onInput={(secret) => set({ secret })} />
      </Form>
    </Dialog>
  );
}

/** The field for a secret that the log-in system has made. */
export function SecretField({ value, onInput }: { readonly value: string; onInput(secret: string): void }) {
  return (
    <TextField
      label={t('ownSecret')}
      type="password"
      autocomplete="off"
      hint={t('ownSecretHint')}
      value={value}
      onInput={onInput}
    />
  );
}

/** The fields of a hook for any other system: where a call has its values, and how it proves itself. */
function GenericFields({ form: { values, set } }: { readonly form: FormState<Values> }) {
  return (
    <>
      <TextField
        label={t('at_number')}
        required
        maxLength={256}
        pattern="/.*"
        placeholder="/user/phone"
        hint={t('pointerHint')}
        value={values.number}
        onInput={(number) => set({ number })}
      />
      <div class="pair">
        <SelectField
          label={t('brings')}
          value={values.brings}
          options={[
            ['code', t('brings_code')],
            ['text', t('brings_text')],
          ]}
          onInput={(brings) => set({ brings })}
        />
        <TextField
          label={t(values.brings === 'code' ? 'at_code' : 'at_text')}
          required
          maxLength={256}
          pattern="/.*"
          placeholder={values.brings === 'code' ? '/code' : '/message'}
          value={values.content}
          onInput={(content) => set({ content })}
        />
      </div>
      <div class="pair">
        <TextField
          label={t('at_id')}
          maxLength={256}
          pattern="/.*"
          placeholder="/id"
          value={values.id}
          onInput={(id) => set({ id })}
        />
        <TextField
          label={t('at_valid_for')}
          maxLength={256}
          pattern="/.*"
          placeholder="/expires_in"
          value={values.validFor}
          onInput={(validFor) => set({ validFor })}
        />
      </div>
      <div class="pair">
        <SelectField
          label={t('proof')}
          value={values.proof}
          options={[
            ['header', t('proof_header')],
            ['hex', t('proof_hex')],
            ['base64', t('proof_base64')],
          ]}
          onInput={(proof) => set({ proof })}
        />
        <TextField
          label={t('header')}
          required
          maxLength={64}
          pattern="[A-Za-z0-9\-]+"
          value={values.header}
          onInput={(header) => set({ header })}
        />
      </div>
    </>
  );
}

/** The choice of the user, or the first one. */
function chosenOf(choice: string, choices: readonly string[]): string {
  return choices.includes(choice) ? choice : (choices[0] ?? '');
}

function orderOf(values: Values, signature: string, channel: string): LoginHookOrder {
  const { kind, name, secret, segments, daily, number, brings, content, id, validFor, proof, header } = values;
  const isGeneric = kind === 'generic';
  return {
    kind,
    signature,
    channel,
    name: name.trim() || undefined,
    secret: secret.trim() || undefined,
    limits: { max_segments: Number(segments), ...(daily === '' ? {} : { daily_units: Number(daily) }) },
    mapping: isGeneric
      ? { number, [brings]: content, ...(id && { id }), ...(validFor && { valid_for: validFor }) }
      : undefined,
    proof: isGeneric
      ? proof === 'header'
        ? { kind: 'header', header }
        : { kind: 'hmac', header, encoding: proof }
      : undefined,
  };
}
