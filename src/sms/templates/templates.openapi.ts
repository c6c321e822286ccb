import { describeController, type ErrorDescription, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import { PAGE } from '../../openapi/listings.js';
import { SmsSettings } from '../sms-options.js';
import { MAX_TEMPLATES, TEMPLATE_NAME, Template, TemplatePage, TemplateRemoved } from './template.api.js';
import { TemplatesController } from './templates.controller.js';
import { CreateTemplateBody, ListTemplatesQuery, ReplaceTemplateBody } from './templates.dto.js';

const { name, content, signature } = Template.properties;

/** OpenAPI description of templates (docs/campaigns.md). */
export const templatesOpenapi = describeController(TemplatesController, ({ get }) => {
  const { maxSegments: max } = get(SmsSettings);
  const fields = {
    content: { ...content, minLength: 1 },
    signature: 'The sender’s name of sends that give none. Whether the account may use it is decided at each send.',
  };
  const errors: readonly ErrorDescription[] = [
    'error.empty_message',
    { code: 'error.stray_brace', values: { position: 9 } },
    'error.unsendable_character',
    { code: 'error.too_many_segments', values: { segments: max + 1, max } },
    'error.signature_format',
  ];
  const example = { content: content.example ?? '', signature: signature.example ?? '' };
  return {
    tag: {
      name: 'Templates',
      description: `Texts that sends use by name (\`template\` in place of \`content\`). An account has at most ${MAX_TEMPLATES}. A change never changes what was accepted.`,
    },
    parameters: { name: { description: 'The name of the template.', example: name.example ?? '' } },
    schemas: { Template, TemplatePage, TemplateRemoved },
    routes: {
      create: {
        operationId: 'createTemplate',
        summary: 'Make a template',
        body: {
          name: 'CreateTemplate',
          description: 'The template to make.',
          ...fieldsOf(CreateTemplateBody, { ...fields, name: { ...name, pattern: TEMPLATE_NAME } }),
          required: ['content'],
          examples: { template: { name: name.example ?? '', ...example } },
        },
        answer: { schema: 'Template' },
        errors: [
          ...errors,
          ...invalid('name'),
          { code: 'error.template_exists', values: { name: name.example as string } },
          { code: 'error.too_many_templates', values: { max: MAX_TEMPLATES } },
          'error.account_not_found',
        ],
      },
      list: {
        operationId: 'listTemplates',
        summary: 'List the templates by name',
        query: fieldsOf(ListTemplatesQuery, PAGE),
        answer: { schema: 'TemplatePage', examples: { 'The last page': { next_cursor: null } } },
        errors: ['error.invalid_cursor'],
      },
      get: {
        operationId: 'getTemplate',
        summary: 'Read a template',
        answer: { schema: 'Template' },
        errors: ['error.template_not_found'],
      },
      replace: {
        operationId: 'replaceTemplate',
        summary: 'Replace the text and the signature of a template',
        description: 'Sends that were accepted keep their text.',
        body: {
          name: 'ReplaceTemplate',
          description: 'The new text and signature. A signature that is left out is removed.',
          ...fieldsOf(ReplaceTemplateBody, fields),
          required: ['content'],
          examples: { template: example },
        },
        answer: { schema: 'Template' },
        errors: [...errors, 'error.template_not_found'],
      },
      remove: {
        operationId: 'removeTemplate',
        summary: 'Remove a template',
        description: 'What was sent with it stays.',
        answer: { schema: 'TemplateRemoved' },
        errors: ['error.template_not_found'],
      },
    },
  };
});
