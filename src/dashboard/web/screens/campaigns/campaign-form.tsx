import { PersonalText } from '../../../../common/text/personal-text.js';
import { isInvisible } from '../../../../common/text/visible-text.js';
import { Form } from '../../components/dialog.js';
import { SelectField, TextField } from '../../components/field.js';
import { Failure } from '../../components/notes.js';
import { Screen } from '../../components/page.js';
import { messaging } from '../../core/clients.js';
import { useForm } from '../../core/form.js';
import { useResource } from '../../core/resource.js';
import { go, hrefOf } from '../../core/router.js';
import { can } from '../../core/session.js';
import { listOf } from '../shared/list-of.js';
import { Segments, TextSize } from '../shared/segments.js';
import { useSenders } from '../shared/senders.js';
import { missingWhen, WhenFields, whenOf } from '../shared/when.js';
import { AT_ONCE, type When } from '../shared/when-draft.js';
import { t } from './campaign-texts.js';

interface Values {
  readonly name: string;
  readonly signature: string;
  /** The name of a template; empty: the text is `content`. */
  readonly template: string;
  readonly content: string;
  readonly perMinute: string;
  readonly national: 'no' | 'yes';
  readonly when: When;
}

const EMPTY: Values = {
  name: '',
  signature: '',
  template: '',
  content: '',
  perMinute: '',
  national: 'no',
  when: AT_ONCE,
};

/** The form for a new draft. */
export function CampaignForm() {
  const senders = useSenders();
  const templates = useResource(
    async (signal) =>
      can('templates.read') ? (await messaging().templates.list({ limit: 500 }, { signal }).page()).items : [],
    [],
  );
  const form = useForm<Values>('campaign', EMPTY, async (values, idempotencyKey) => {
    const { name, template, content, perMinute, national, when } = values;
    const { id } = await messaging().campaigns.create(
      {
        name,
        signature: values.signature || senders.names[0],
        ...(template === '' ? { content } : { template }),
        ...(perMinute === '' ? {} : { per_minute: Number(perMinute) }),
        ...(national === 'yes' ? { national: true } : {}),
        ...whenOf(when),
      },
      { idempotencyKey },
    );
    go(`campaigns/${encodeURIComponent(id)}`);
  });
  const { values, set } = form;
  const read = PersonalText.parse(values.content);
  const hasText = values.template !== '' || (read instanceof PersonalText && !isInvisible(values.content));
  const missing = [
    ...(senders.names.length === 0 ? [t('needsSender')] : []),
    ...(hasText ? [] : [t('needsText')]),
    ...missingWhen(values.when),
  ];
  const template = templates.data?.find(({ name }) => name === values.template);
  return (
    <Screen title={t('make')} back={[hrefOf('campaigns'), t('back')]}>
      <Failure error={senders.error ?? templates.error} />
      <Form form={form} submit={t('save')} disabled={missing.length > 0}>
        <div class="pair">
          <TextField
            label={t('name')}
            required
            maxLength={128}
            hint={t('nameHint')}
            value={values.name}
            onInput={(name) => set({ name })}
          />
          <SelectField
            label={t('from')}
            value={values.signature || (senders.names[0] ?? '')}
            options={senders.names.map((name) => [name, name])}
            onInput={(signature) => set({ signature })}
          />
        </div>
        <SelectField
          label={t('source')}
          value={values.template}
          options={[
            ['', t('own')],
            ...(templates.data ?? []).map(({ name }) => [name, `${t('template')}: ${name}`] as const),
          ]}
          onInput={(template) => set({ template })}
        />
        {values.template === '' && (
          <TextField
            label={t('text')}
            required
            rows={5}
            value={values.content}
            hint={
              read instanceof PersonalText ? (
                t('textHint', { example: '{name}' })
              ) : (
                <span class="bad-text">{t('textStray', { n: read.position, example: '{name}' })}</span>
              )
            }
            onInput={(content) => set({ content })}
          />
        )}
        {template && <Segments of={template.content} />}
        {values.template === '' && values.content !== '' && (
          <div>
            <p class="hint" aria-live="polite">
              <TextSize of={values.content} />
            </p>
            <Segments of={values.content} />
          </div>
        )}
        <WhenFields
          of={values.when}
          set={(changes) => set({ when: { ...values.when, ...changes } })}
          after={(after) => t('afterTurn', { after })}
        />
        <div class="pair">
          <TextField
            label={t('perMinute')}
            type="number"
            min={1}
            max={1_000_000}
            hint={t('perMinuteHint')}
            value={values.perMinute}
            onInput={(perMinute) => set({ perMinute })}
          />
          <SelectField
            label={t('national')}
            value={values.national}
            options={[
              ['no', t('withCode')],
              ['yes', t('homeToo')],
            ]}
            onInput={(national) => set({ national })}
          />
        </div>
        {missing.length > 0 && <p class="hint">{t('missingValues', { what: listOf(missing) })}</p>}
      </Form>
    </Screen>
  );
}
