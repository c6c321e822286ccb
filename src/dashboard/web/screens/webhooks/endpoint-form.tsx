import type { EventType, EventTypeView, Webhook, WebhookOrder, WebhookWithSecret } from '../../../../client/index.js';
import { Dialog, Form } from '../../components/dialog.js';
import { Checks, SelectField, TextField } from '../../components/field.js';
import { Failure } from '../../components/notes.js';
import { messaging } from '../../core/clients.js';
import { useForm } from '../../core/form.js';
import { useResource } from '../../core/resource.js';
import { t } from './webhook-texts.js';

type WebhookTypes = Webhook['types'];

interface Values {
  readonly url: string;
  readonly description: string;
  readonly all: boolean;
  readonly types: WebhookTypes;
  readonly ordering: Webhook['ordering'];
  readonly max: string;
  readonly wait: string;
  readonly signature: Webhook['signature'];
}

const NEW: Values = {
  url: '',
  description: '',
  all: true,
  types: [],
  ordering: 'none',
  max: '1',
  wait: '0',
  signature: 'hmac',
};

interface EndpointFormProps {
  /** The endpoint to change. Undefined: the form makes a new endpoint. */
  readonly of?: Webhook;
  onDone(endpoint: WebhookWithSecret): void;
  onClose(): void;
}

/** The form that makes or changes an endpoint. */
export function EndpointForm({ of, onDone, onClose }: EndpointFormProps) {
  const form = useForm(
    of ? `endpoint-${of.id}` : 'endpoint',
    of ? valuesOf(of) : NEW,
    async (values, idempotencyKey) => {
      const { webhooks } = messaging();
      const { signature, ...changes } = orderOf(values);
      onDone(
        of
          ? await webhooks.update(of.id, changes)
          : await webhooks.create({ ...changes, signature }, { idempotencyKey }),
      );
    },
  );
  const { values, set } = form;
  const title = t(of ? 'editThis' : 'make');
  return (
    <Dialog title={title} onClose={onClose}>
      <Form form={form} submit={t(of ? 'edit' : 'make')} onCancel={onClose}>
        <TextField
          label={t('url')}
          required
          autofocus
          type="url"
          maxLength={2048}
          placeholder="https://example.com/hooks"
          hint={t('urlHint')}
          value={values.url}
          onInput={(url) => set({ url })}
        />
        <TextField
          label={t('description')}
          maxLength={256}
          value={values.description}
          onInput={(description) => set({ description })}
        />
        <SelectField
          label={t('types')}
          value={values.all ? 'all' : 'some'}
          options={[
            ['all', t('everything')],
            ['some', t('some')],
          ]}
          onInput={(which) => set({ all: which === 'all' })}
        />
        {!values.all && <Types chosen={values.types} onInput={(types) => set({ types })} />}
        <SelectField
          label={t('order')}
          hint={t('strictHint')}
          value={values.ordering}
          options={[
            ['none', t('none_order')],
            ['strict', t('strict_order')],
          ]}
          onInput={(ordering) => set({ ordering })}
        />
        <div class="pair">
          <TextField
            label={t('batch')}
            required
            type="number"
            min={1}
            max={100}
            value={values.max}
            onInput={(max) => set({ max })}
          />
          <TextField
            label={t('wait')}
            required
            type="number"
            min={0}
            max={5000}
            value={values.wait}
            onInput={(wait) => set({ wait })}
          />
        </div>
        {!of && (
          <SelectField
            label={t('signing')}
            value={values.signature}
            options={[
              ['hmac', 'HMAC-SHA256'],
              ['ed25519', 'Ed25519'],
            ]}
            onInput={(signature) => set({ signature })}
          />
        )}
      </Form>
    </Dialog>
  );
}

/** Whether an endpoint may choose this type. An endpoint always gets its own `test.ping` and `endpoint.gap`. */
function isChoosable(type: EventTypeView['type']): type is EventType {
  return type !== 'test.ping' && type !== 'endpoint.gap';
}

/** The types of events that this service has. */
function Types({ chosen, onInput }: { readonly chosen: WebhookTypes; onInput(types: WebhookTypes): void }) {
  const { data, error, reload } = useResource((signal) => messaging().events.types({ signal }), []);
  if (error !== undefined) return <Failure error={error} onRetry={() => void reload()} />;
  const known = data?.items.map(({ type }) => type).filter(isChoosable) ?? [];
  const types = [...new Set([...known, ...chosen])];
  return <Checks label={t('types')} options={types.map((type) => [type, type])} chosen={chosen} onInput={onInput} />;
}

function valuesOf({ url, description, types, ordering, batch, signature }: Webhook): Values {
  const all = types.includes('*');
  return {
    url,
    description: description ?? '',
    all,
    types: all ? [] : types,
    ordering,
    signature,
    max: String(batch.max),
    wait: String(batch.wait_ms),
  };
}

function orderOf({ url, description, all, types, ordering, max, wait, signature }: Values): WebhookOrder {
  return {
    url: url.trim(),
    description,
    types: all ? ['*'] : types,
    ordering,
    batch: { max: Number(max), wait_ms: Number(wait) },
    signature,
  };
}
