/** The values of variables by their names. */
export type Variables = Readonly<Record<string, string>>;

/** A text that cannot be read, because one of its braces is neither doubled nor part of a variable. */
export interface StrayBrace {
  /** The place of the brace, in code points from 1. */
  readonly position: number;
}

/** How many characters the name of a variable may have. */
export const MAX_VARIABLE_NAME = 32;

/** How many characters (code points) the value of a variable may have. */
export const MAX_VARIABLE_VALUE = 500;

/** A doubled brace, a variable such as `{name}`, or a brace that is neither. */
const TOKEN = new RegExp(String.raw`\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]{0,${MAX_VARIABLE_NAME - 1}})\}|[{}]`, 'g');

/**
 * A text with variables, which is completed for each recipient. `{name}` stands for a variable: a name of at most 32 letters
 * (a–z, A–Z), digits and underscores that does not begin with a digit. `{{` and `}}` stand for braces.
 *
 * Any other brace is an error, and not a literal: whoever writes `{first name}` or `{prénom}` wants a value there, and would
 * learn of the mistake only from the phones.
 */
export class PersonalText {
  private constructor(
    /** The pieces between the variables, one more than there are variables. Doubled braces are single here. */
    private readonly literals: readonly string[],
    /** The variable that follows each piece but the last. */
    private readonly names: readonly string[],
  ) {
    this.variables = [...new Set(names)];
  }

  /** The distinct variables, in the order of their first appearance. */
  readonly variables: readonly string[];

  /** Reads a text. Returns the first stray brace if there is one. */
  static parse(text: string): PersonalText | StrayBrace {
    const literals: string[] = [];
    const names: string[] = [];
    let literal = '';
    let end = 0;
    for (const token of text.matchAll(TOKEN)) {
      const [found, name] = token;
      literal += text.slice(end, token.index);
      end = token.index + found.length;
      if (name !== undefined) {
        literals.push(literal);
        names.push(name);
        literal = '';
      } else if (found.length === 2) literal += found.charAt(0);
      else return { position: [...text.slice(0, token.index)].length + 1 };
    }
    literals.push(literal + text.slice(end));
    return new PersonalText(literals, names);
  }

  /** Returns the first variable that has no value; undefined if all have one. */
  missingIn(values: Readonly<Record<string, unknown>>): string | undefined {
    return this.variables.find((name) => !(Object.hasOwn(values, name) && typeof values[name] === 'string'));
  }

  /** Returns only the values that the text uses: the same object if it has no others. */
  usedOf(values: Variables): Variables {
    let others = 0;
    for (const name in values) if (!this.variables.includes(name)) others++;
    if (others === 0) return values;
    return Object.fromEntries(this.variables.map((name) => [name, valueFor(values, name)]));
  }

  /** The pieces between the variables, joined: what each recipient gets, whatever its values are. */
  get commonText(): string {
    return this.literals.join('');
  }

  /** Completes the text. Braces in a value stay as they are. A variable without a value is left empty. */
  complete(values: Variables): string {
    let text = this.literals[0] ?? '';
    for (let index = 0; index < this.names.length; index++) {
      text += valueFor(values, this.names[index] ?? '') + (this.literals[index + 1] ?? '');
    }
    return text;
  }
}

function valueFor(values: Variables, name: string): string {
  // A name such as `constructor` is a property of every object.
  return Object.hasOwn(values, name) ? (values[name] ?? '') : '';
}
