import { createHash } from 'node:crypto';
import { dashboardFiles } from './dashboard-files.js';
import type { ResolvedDashboardOptions } from './dashboard-options.js';

/** The page of one mounted dashboard, with its headers. */
export interface DashboardPage {
  readonly html: string;
  readonly etag: string;
  /** The Content-Security-Policy. */
  readonly policy: string;
}

/**
 * A script that finds the folder of the page from the address in the browser and loads the style sheet and the script from there.
 * Relative addresses alone would depend on the slash at the end of the address, which may be missing.
 */
const LOADER = `{const r=document.documentElement,b=new URL(location.pathname.endsWith('/')?'./':location.pathname.replace(/^.*\\//,'')+'/',location.href),at=n=>new URL('assets/'+n,b).href,l=document.createElement('link');r.dataset.base=b.href;l.rel='stylesheet';l.href=at(r.dataset.style);l.onload=l.onerror=()=>import(at(r.dataset.script));document.head.append(l);const p=document.createElement('link');p.rel='modulepreload';p.href=at(r.dataset.script);document.head.append(p)}`;

/**
 * Builds the page. The settings for the script are attributes of `<html>`.
 *
 * @param api the address of the API: a path relative to the page's folder, an absolute path, or a URL
 */
export function dashboardPage(options: ResolvedDashboardOptions, api: string): DashboardPage {
  const { name, logo, locale, signIn, signInUrl, frameAncestors, colors } = options;
  const { script, style } = dashboardFiles();
  const data = { script, style, api, name, logo, locale, 'sign-in': signIn, 'sign-in-url': signInUrl };
  const attributes = Object.entries({ ...data, hosts: frameAncestors.join(' ') }).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [`data-${key}="${escaped(value)}"`],
  );
  const colours = coloursOf(colors);
  const html = `<!doctype html>
<html lang="${locale ?? 'en'}" ${attributes.join(' ')}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escaped(name)}</title>
<link rel="icon" href="data:,">
<style>${colours}</style>
<script>${LOADER}</script>
</head>
<body>
<div id="app"></div>
<noscript>${escaped(name)}: JavaScript is needed here. / JavaScript est nécessaire ici.</noscript>
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `script-src 'self' '${hashOf(LOADER)}'`,
    `style-src 'self' '${hashOf(colours)}'`,
    `img-src 'self' data: blob:${originOf(logo)}`,
    `connect-src 'self'${originOf(api)}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.join(' ') || "'none'"}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  return {
    html,
    policy,
    etag: `"${createHash('sha256').update(html).update(policy).digest('base64url').slice(0, 27)}"`,
  };
}

/** Returns the host's colours as CSS variables. They override those of the style sheet. */
function coloursOf({ brand, brandText, darkBrand, darkBrandText }: ResolvedDashboardOptions['colors']): string {
  const light = variables({ '--brand': brand, '--brand-ink': brandText, '--brand-text': brand });
  const dark = variables({ '--brand': darkBrand, '--brand-ink': darkBrandText, '--brand-text': darkBrand });
  return [
    light && `html:root:root{${light}}`,
    dark && `html:root[data-theme='dark']{${dark}}`,
    dark && `@media(prefers-color-scheme:dark){html:root:not([data-theme='light']){${dark}}}`,
  ]
    .filter(Boolean)
    .join('');
}

function variables(values: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(values)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}:${value}`]))
    .join(';');
}

/** Returns the origin of a URL, with a space before it. Empty for a path. */
function originOf(address: string | undefined): string {
  return address?.startsWith('http') ? ` ${new URL(address).origin}` : '';
}

function hashOf(source: string): string {
  return `sha256-${createHash('sha256').update(source).digest('base64')}`;
}

function escaped(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
