import { describe, expect, test } from '@jest/globals';
import { type BaileysOptions, resolveBaileysOptions } from '../../../src/transports/baileys/baileys-options.js';
import { errorTable } from '../../../src/transports/http/gateway.js';
import { type HttpSmsOptions, resolveGatewaySettings } from '../../../src/transports/http/http-sms-options.js';
import type {
  HttpVendor,
  VendorCallback,
  VendorErrors,
  VendorNews,
  VendorRequest,
} from '../../../src/transports/http/vendor.js';
import { type AfricasTalkingOptions, africasTalking } from '../../../src/transports/http/vendors/africas-talking.js';
import { generic } from '../../../src/transports/http/vendors/generic.js';
import { type HttpsmsOptions, httpsms } from '../../../src/transports/http/vendors/httpsms.js';
import { type JasminOptions, jasmin } from '../../../src/transports/http/vendors/jasmin.js';
import { type KannelOptions, kannel } from '../../../src/transports/http/vendors/kannel.js';
import { type MtnOptions, mtn } from '../../../src/transports/http/vendors/mtn.js';
import { type OrangeOptions, orange } from '../../../src/transports/http/vendors/orange.js';
import { type SmsgateOptions, smsgate } from '../../../src/transports/http/vendors/smsgate.js';
import { type TextbeeOptions, textbee } from '../../../src/transports/http/vendors/textbee.js';
import { type TwilioOptions, twilio } from '../../../src/transports/http/vendors/twilio.js';
import { type VonageOptions, vonage } from '../../../src/transports/http/vendors/vonage.js';
import type { RoutedSmsOptions } from '../../../src/transports/routed/routed-sms-transport.module.js';
import { type BreakerOptions, type RouteRules, resolveRoutes } from '../../../src/transports/routed/routes.js';
import type { SmppTlsSettings } from '../../../src/transports/smpp/bind/bind-settings.js';
import { resolveSmppSettings } from '../../../src/transports/smpp/resolve-settings.js';
import type { AddressOptions, SmppLinkOptions, SmppOptions } from '../../../src/transports/smpp/smpp-options.js';
import { leftOut } from '../../support/mounting/left-out.js';

describe('an option of a transport that is undefined counts as left out, for the compiler and at run time', () => {
  test('of SMPP', () => {
    const bare = { host: 'smpp.carrier.example', systemId: 'acme', password: 'secret08' };
    const link: SmppLinkOptions = {
      ...bare,
      ...leftOut<SmppLinkOptions>({
        name: undefined,
        route: undefined,
        port: undefined,
        systemType: undefined,
        serviceType: undefined,
        tls: undefined,
        bindAs: undefined,
        window: undefined,
        partsPerSecond: undefined,
        messageIds: undefined,
        responseTimeoutMs: undefined,
        bindTimeoutMs: undefined,
        enquireLinkMs: undefined,
        reconnectMs: undefined,
        reconnectMaxMs: undefined,
        throttlePauseMs: undefined,
        longMessages: undefined,
        dataCoding: undefined,
        defaultAlphabet: undefined,
        addresses: undefined,
        receiptOffsetMinutes: undefined,
        longPassword: undefined,
        unmarkedReceipts: undefined,
        home: undefined,
        statuses: undefined,
        receiptStates: undefined,
        receipts: undefined,
        destinations: undefined,
        validity: undefined,
        longSystemId: undefined,
      }),
    };
    const smpp: SmppOptions = { links: [link], ...leftOut<SmppOptions>({ name: undefined, resendUnknown: undefined }) };
    expect(resolveSmppSettings(smpp)).toEqual(resolveSmppSettings({ links: [bare] }));
    const tls: SmppTlsSettings = leftOut<SmppTlsSettings>({
      servername: undefined,
      ca: undefined,
      cert: undefined,
      key: undefined,
      rejectUnauthorized: undefined,
    });
    const addresses: AddressOptions = leftOut<AddressOptions>({
      alphanumeric: undefined,
      international: undefined,
      shortCode: undefined,
      destination: undefined,
      shortCodes: undefined,
      national: undefined,
    });
    expect(resolveSmppSettings({ links: [{ ...bare, tls, addresses }] })).toStrictEqual(
      resolveSmppSettings({ links: [{ ...bare, tls: {}, addresses: {} }] }),
    );
  });

  test('of HTTP gateways', () => {
    const secrets = { accountSid: `AC${'0'.repeat(32)}`, authToken: 'token' };
    const given: TwilioOptions = {
      ...secrets,
      ...leftOut<TwilioOptions>({ apiKey: undefined, messagingServiceSid: undefined, baseUrl: undefined }),
    };
    expect(twilio(given).baseUrl).toBe(twilio(secrets).baseUrl);
    const account: VonageOptions = {
      apiKey: 'key',
      apiSecret: 'secret',
      ...leftOut<VonageOptions>({ signatureSecret: undefined, signatureMethod: undefined, baseUrl: undefined }),
    };
    expect(vonage(account).callback?.isGenuine).toBeUndefined();
    const talking: AfricasTalkingOptions = { username: 'acme', apiKey: 'key', baseUrl: undefined };
    expect(africasTalking(talking).baseUrl).toMatch(/^https/);
    const sender: OrangeOptions = { clientId: 'a', clientSecret: 'b', senderNumber: '22670000000', baseUrl: undefined };
    expect(orange(sender).baseUrl).toMatch(/^https/);
    const login = { username: 'acme', password: 'secret' };
    const phone: SmsgateOptions = {
      ...login,
      ...leftOut<SmsgateOptions>({
        deviceId: undefined,
        local: undefined,
        simNumber: undefined,
        activeWithinHours: undefined,
        signingKey: undefined,
        from: undefined,
        baseUrl: undefined,
      }),
    };
    expect(smsgate(phone)).toMatchObject({ baseUrl: 'https://api.sms-gate.app', idempotent: false });
    const from = '22670990000';
    const owned: HttpsmsOptions = { apiKey: 'key', from, signingKey: undefined, baseUrl: undefined };
    expect(httpsms(owned).callback?.isGenuine).toBeUndefined();
    const bee: TextbeeOptions = {
      apiKey: 'key',
      deviceId: 'd1',
      from,
      ...leftOut<TextbeeOptions>({ simSubscriptionId: undefined, signingSecret: undefined, baseUrl: undefined }),
    };
    expect(textbee(bee).callback?.isGenuine).toBeUndefined();
    const box: KannelOptions = { ...login, baseUrl: 'http://localhost', maxSegments: undefined, smsc: undefined };
    expect(kannel(box).maxSegments).toBe(1);
    const gateway: JasminOptions = { ...login, baseUrl: 'http://localhost', maxSegments: undefined };
    expect(jasmin(gateway).maxSegments).toBe(5);
    const portal: MtnOptions = { clientId: 'a', clientSecret: 'b', cpAddress: undefined, baseUrl: undefined };
    expect(mtn(portal).baseUrl).toMatch(/^https/);

    const http: HttpSmsOptions = {
      vendor: twilio(secrets),
      ...leftOut<HttpSmsOptions>({
        name: undefined,
        callbackUrl: undefined,
        callbackSecret: undefined,
        concurrency: undefined,
        requestMs: undefined,
        waitMs: undefined,
        repeat: undefined,
        tls: undefined,
        messageIds: undefined,
        allowHttp: undefined,
        home: undefined,
      }),
    };
    expect(resolveGatewaySettings(http)).toEqual(resolveGatewaySettings({ vendor: http.vendor }));
  });

  test('of a gateway that the host describes', () => {
    const errors: VendorErrors = leftOut<VendorErrors>({
      permanent: undefined,
      temporary: undefined,
      throttled: undefined,
      account: undefined,
      unclear: undefined,
    });
    expect(errorTable(errors)).toEqual(new Map());
    const request: VendorRequest = {
      path: '/',
      ...leftOut<VendorRequest>({ method: undefined, headers: undefined, json: undefined, form: undefined }),
    };
    const news: VendorNews = leftOut<VendorNews>({ receipts: undefined, inbound: undefined });
    const callback: VendorCallback = {
      read: () => news,
      ...leftOut<VendorCallback>({
        isGenuine: undefined,
        needsSecret: undefined,
        byGet: undefined,
        charset: undefined,
        echoesReference: undefined,
        answer: undefined,
      }),
    };
    const needed = { name: 'acme', baseUrl: 'https://sms.acme.example', request: () => request, read: () => ({}) };
    const vendor: HttpVendor = {
      ...needed,
      ...leftOut<HttpVendor>({
        idempotent: undefined,
        token: undefined,
        ownIds: undefined,
        maxSegments: undefined,
        errors: undefined,
        callback: undefined,
      }),
    };
    expect(generic(vendor)).toEqual(needed);
    expect(generic({ ...needed, errors, callback }).callback).toEqual({ read: callback.read });
  });

  test('of routes', () => {
    const breaker: BreakerOptions = leftOut<BreakerOptions>({
      failurePercent: undefined,
      minSms: undefined,
      windowMs: undefined,
      openMs: undefined,
    });
    const rules: RouteRules = {
      name: 'a',
      ...leftOut<RouteRules>({
        prefixes: undefined,
        signatures: undefined,
        weight: undefined,
        segmentsPerSecond: undefined,
        distinctRecipients: undefined,
        breaker: undefined,
        failOver: undefined,
      }),
    };
    const plain = resolveRoutes({ routes: [{ name: 'a' }] });
    const named: Omit<RoutedSmsOptions, 'routes'> = { name: undefined };
    expect(resolveRoutes({ ...named, routes: [rules] })).toEqual(plain);
    expect(resolveRoutes({ routes: [{ name: 'a', breaker }] })).toEqual(plain);
  });

  test('of Baileys', () => {
    const baileys: BaileysOptions = leftOut<BaileysOptions>({
      waWebSocketUrl: undefined,
      version: undefined,
      browser: undefined,
      ca: undefined,
      agent: undefined,
      uploadAgent: undefined,
      connectTimeoutMs: undefined,
      answerTimeoutMs: undefined,
      queryTimeoutMs: undefined,
      ackTimeoutMs: undefined,
      uploadTimeoutMs: undefined,
      keepAliveMs: undefined,
      qrTimeoutMs: undefined,
      restrictionMs: undefined,
      mediaUrl: undefined,
    });
    expect(resolveBaileysOptions(baileys)).toEqual(resolveBaileysOptions({}));
  });
});
