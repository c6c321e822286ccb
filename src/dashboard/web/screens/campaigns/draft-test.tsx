import { useSignal } from '@preact/signals';
import type { Campaign as CampaignView } from '../../../../client/index.js';
import { PersonalText } from '../../../../common/text/personal-text.js';
import { Form } from '../../components/dialog.js';
import { TextField } from '../../components/field.js';
import { Note } from '../../components/notes.js';
import { Section } from '../../components/page.js';
import { messaging } from '../../core/clients.js';
import { useForm } from '../../core/form.js';
import { word } from '../../core/words.js';
import { cleanNumber } from '../shared/number.js';
import { Segments } from '../shared/segments.js';
import { t } from './campaign-texts.js';

interface Values {
  readonly number: string;
  readonly vars: Readonly<Record<string, string>>;
}

/** Sends the text of a draft to one number. */
export function DraftTest({ of: { id, content } }: { readonly of: CampaignView }) {
  const read = PersonalText.parse(content);
  const variables = read instanceof PersonalText ? read.variables : [];
  const tested = useSignal<number | undefined>(undefined);
  const empty: Values = { number: '', vars: Object.fromEntries(variables.map((name) => [name, ''])) };
  const form = useForm(`campaign-test-${id}`, empty, async ({ number, vars }, idempotencyKey) => {
    const order = { number: cleanNumber(number) ?? number, vars };
    tested.value = (await messaging().campaigns.test(id, order, { idempotencyKey })).sms_units;
  });
  const { values, set } = form;
  return (
    <Section title={t('test')}>
      <p class="hint">{t('testLead')}</p>
      <Form form={form} submit={t('testSend')}>
        <div class="pair">
          <TextField
            label={word('number')}
            required
            type="tel"
            value={values.number}
            onInput={(number) => set({ number })}
          />
          {variables.map((name) => (
            <TextField
              key={name}
              label={name}
              required
              value={values.vars[name] ?? ''}
              onInput={(value) => set({ vars: { ...values.vars, [name]: value } })}
            />
          ))}
        </div>
        {read instanceof PersonalText && <Segments of={read.complete(values.vars)} />}
        <div role="status">
          {tested.value !== undefined && <Note tone="good">{t('tested', { n: tested.value })}</Note>}
        </div>
      </Form>
    </Section>
  );
}
