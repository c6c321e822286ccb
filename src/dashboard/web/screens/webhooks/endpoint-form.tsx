import { Dialog, Form } from '../../components/dialog.js';
import { Checks, SelectField, TextField } from '../../components/field.js';
import { Failure } from '../../components/notes.js';
import { api, type Page } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { useResource } from '../../core/resource.js';
import { t } from './webhook-texts.js';
import type { EndpointView, EndpointWithSecret } from './webhook-types.js';

interface Values {
  readonly url: string;
  readonly description: string;
  readonly all: boolean;
  readonly types: readonly string[];
  readonly ordering: string;
  readonly max: string;
  readonly wait: string;
  readonly signature: string;
}

const NEW: Values = {
  ...{ url: '', description: '', all: true, types: [], ordering: 'none', max: '1', wait: '0', signature: 'hmac' },
};

interface EndpointFormProps {
  /** What is changed; undefined: a new one is made. */
  readonly of?: EndpointView;
  onDone(endpoint: EndpointWithSecret): void;
  onClose(): void;
}

/** Asks for an endpoint, and makes or changes it. */
export function EndpointForm({ of, onDone, onClose }: EndpointFormProps) {
  const form = useForm(of ? `endpoint-${of.id}` : 'endpoint', of ? valuesOf(of) : NEW, async (values, key) => {
    const body = bodyOf(values, of === undefined);
    onDone(
      of
        ? await api.patch<EndpointWithSecret>(`webhooks/${encodeURIComponent(of.id)}`, body)
        : await api.post<EndpointWithSecret>('webhooks', body, key),
    );
  });
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

/** Go to their endpoint whatever its types. */
const OF_THEMSELVES: readonly string[] = ['test.ping', 'endpoint.gap'];

/** The types of events that this service has. */
function Types({ chosen, onInput }: { readonly chosen: readonly string[]; onInput(types: readonly string[]): void }) {
  const { data, error, reload } = useResource<Pick<Page<{ readonly type: string }>, 'items'>>(
    (signal) => api.get('webhooks/types', {}, signal),
    [],
  );
  if (error !== undefined) return <Failure error={error} onRetry={() => void reload()} />;
  const known = data?.items.map(({ type }) => type).filter((type) => !OF_THEMSELVES.includes(type)) ?? [];
  const types = [...new Set([...known, ...chosen])];
  return <Checks label={t('types')} options={types.map((type) => [type, type])} chosen={chosen} onInput={onInput} />;
}

function valuesOf({ url, description, types, ordering, batch, signature }: EndpointView): Values {
  const all = types.includes('*');
  return {
    ...{ url, description: description ?? '', all, types: all ? [] : types, ordering, signature },
    ...{ max: String(batch.max), wait: String(batch.wait_ms) },
  };
}

function bodyOf({ url, description, all, types, ordering, max, wait, signature }: Values, isNew: boolean): object {
  return {
    ...{ url: url.trim(), description, types: all ? ['*'] : types, ordering },
    batch: { max: Number(max), wait_ms: Number(wait) },
    ...(isNew && { signature }),
  };
}
