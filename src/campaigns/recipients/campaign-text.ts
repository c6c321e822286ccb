import { type ErrorCode, MessagingError } from '../../common/errors.js';
import { hasCodePoints } from '../../common/inputs.js';
import { MAX_VARIABLE_VALUE, PersonalText, type Variables } from '../../common/text/personal-text.js';
import { isInvisible } from '../../common/text/visible-text.js';
import type { SmsSettings } from '../../sms/sms-options.js';
import { checkContent, checkText } from '../../sms/sms-pricing.js';

/** What is wrong with the variables of a recipient. */
export interface TextFault {
  readonly code: ErrorCode;
  /** The name of the wrong variable; undefined if the text as a whole is wrong. */
  readonly variable: string | undefined;
}

/** The text of a campaign, which is completed for each recipient. */
export class CampaignText {
  /** The text that all recipients get, if it has no variables. */
  readonly plain: string | undefined;

  private constructor(
    private readonly text: PersonalText,
    private readonly settings: SmsSettings,
  ) {
    this.plain = text.variables.length === 0 ? text.complete({}) : undefined;
  }

  /**
   * Reads the content of a campaign.
   * @throws MessagingError `error.empty_message`, `error.field_not_string`, `error.stray_brace`
   */
  static of(content: string | null | undefined, settings: SmsSettings): CampaignText {
    const text = PersonalText.parse(checkContent(content));
    if (!(text instanceof PersonalText)) throw new MessagingError('error.stray_brace', { position: text.position });
    const read = new CampaignText(text, settings);
    if (read.plain !== undefined) checkText(read.plain, settings);
    return read;
  }

  /** The variables that the text uses. */
  get variables(): readonly string[] {
    return this.text.variables;
  }

  /** The values that the text uses; undefined if it uses none. */
  usedOf(values: Variables): Variables | undefined {
    return this.plain === undefined ? this.text.usedOf(values) : undefined;
  }

  /** Returns what is wrong with the values of a recipient; undefined if the text can be sent with them. */
  faultIn(values: Readonly<Record<string, unknown>>): TextFault | undefined {
    const missing = this.variables.find((name) => !Object.hasOwn(values, name) || values[name] === null);
    if (missing !== undefined) return { code: 'error.variable_missing', variable: missing };
    const used: Record<string, string> = {};
    for (const variable of this.variables) {
      const value = values[variable];
      if (typeof value !== 'string') return { code: 'error.field_not_string', variable };
      if (!hasCodePoints(value, 0, MAX_VARIABLE_VALUE)) return { code: 'error.field_too_long', variable };
      used[variable] = value;
    }
    return this.plain === undefined ? this.faultOf(this.text.complete(used)) : undefined;
  }

  /** The text of a recipient, with its number of segments. @throws MessagingError if it cannot be sent */
  completed(values: Variables | undefined): { readonly text: string; readonly segments: number } {
    return checkText(checkContent(this.plain ?? this.text.complete(values ?? {})), this.settings);
  }

  private faultOf(text: string): TextFault | undefined {
    if (isInvisible(text)) return { code: 'error.empty_message', variable: undefined };
    try {
      checkText(text, this.settings);
      return undefined;
    } catch (error) {
      if (error instanceof MessagingError) return { code: error.code, variable: undefined };
      throw error;
    }
  }
}
