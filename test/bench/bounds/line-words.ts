import { Words } from './words.ts';

/** What stands before each value in the event files of the scenarios, up to the value or its first quote. */
export const TO_TICK_SYMBOL = new Words('Tick { symbol: "');
export const TO_PRICE = new Words(', price: ');
export const TO_VOLUME = new Words(', volume: ');
export const TO_LOGIN_USER = new Words('Login { user: "');
export const TO_IP = new Words(', ip: "');
export const TO_DEVICE = new Words(', device: "');
export const TO_PAYMENT_USER = new Words('Payment { user: "');
export const TO_AMOUNT = new Words(', amount: ');
export const TO_SHOP = new Words(', shop: "');
export const TO_PLACE = new Words(', place: "');
export const TO_VALUE = new Words(', value: ');
export const TO_A_ID = new Words('A { id: ');
export const TO_B_ID = new Words('B { id: ');
export const TO_TRADE_SYMBOL = new Words('Trade { symbol: "');
export const TO_READING_DEVICE = new Words('Reading { device: "');
export const TO_TEMPERATURE_SENSOR = new Words('Temperature { sensor: "');
export const TO_PRESSURE_SENSOR = new Words('Pressure { sensor: "');
