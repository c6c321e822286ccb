/** An OpenAPI document as a test reads it: whatever the answer of `/docs-json` was. */
export interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, object>> };
  readonly tags?: readonly { readonly name: string }[];
}

export interface DescribedOperation {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly parameters?: readonly DescribedParameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: DescribedContent };
  readonly responses: Readonly<Record<string, DescribedResponse>>;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

export interface DescribedParameter extends WithExamples {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly explode?: boolean;
}

export interface WithExamples {
  readonly schema?: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>;
}

export type DescribedContent = Readonly<Record<string, WithExamples>>;

export interface DescribedResponse {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, WithExamples & { readonly required?: boolean }>>;
  readonly content?: DescribedContent;
}

/** An OpenAPI document in which references to responses are replaced by the responses. */
export function withResponses<D extends Described & { readonly components?: { readonly responses?: object } }>(
  document: D,
): D {
  const shared = new Map<string, unknown>(
    Object.entries(document.components?.responses ?? {}).map(([name, value]) => [
      `#/components/responses/${name}`,
      value,
    ]),
  );
  // A reference that leads nowhere stays, and is a fault.
  return JSON.parse(JSON.stringify(document), (_, value) => shared.get(value?.$ref) ?? value);
}

/** Every operation of a document: `GET /api/v1/balance` and its description. */
export function operationsOf({ paths }: Described): Map<string, DescribedOperation> {
  return new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]): [string, DescribedOperation] => [
        `${method.toUpperCase()} ${path}`,
        operation,
      ]),
    ),
  );
}

/** The path of a document that matches a request's path. A literal path takes precedence over a template. */
export function pathFor({ paths }: Described, pathname: string): string | undefined {
  const fits = (template: string): boolean => {
    const parts = template.split('/');
    const given = pathname.split('/');
    return parts.length === given.length && parts.every((part, at) => /^\{\w+\}$/.test(part) || part === given[at]);
  };
  return Object.keys(paths)
    .filter(fits)
    .sort((a, b) => a.split('{').length - b.split('{').length)[0];
}
