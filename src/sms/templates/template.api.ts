import { list, moment, nullable, object, page, text } from '../../schemas/builders.js';
import { schemaOf, type TypeOf } from '../../schemas/schema.js';

/** The most templates of an account. */
export const MAX_TEMPLATES = 500;

/** What a template is called. */
export const TEMPLATE_NAME = '^[a-z0-9-]{1,64}$';

const NAME = 'parcel-arrived';
const CONTENT = 'Bonjour {name}, votre colis est arrivé.';

/** A text that sends use by its name. */
export const Template = object('A text that sends use by its name.', {
  name: text('What sends call it.', { pattern: TEMPLATE_NAME, example: NAME }),
  content: text('The text. `{name}` stands for a value of each recipient, `{{` and `}}` for braces.', {
    example: CONTENT,
  }),
  signature: nullable(text('The sender’s name of sends that give none.', { example: 'INFOS' })),
  variables: list(schemaOf<string>({ type: 'string', example: 'name' }), {
    description: 'The variables of the text, in the order of their first appearance.',
  }),
  created_at: moment('When it was made.'),
  updated_at: moment('When it was last changed.'),
});
export interface Template extends TypeOf<typeof Template> {}

/** A page of templates. */
export const TemplatePage = page<Template>('Templates in the order of their names.', { Template });
export interface TemplatePage extends TypeOf<typeof TemplatePage> {}

/** The answer to a removal. */
export const TemplateRemoved = object('The template is removed. What was sent with it stays.', {
  success: schemaOf<true>({ type: 'boolean', enum: [true], description: 'Always true.' }),
});
export interface TemplateRemoved extends TypeOf<typeof TemplateRemoved> {}
