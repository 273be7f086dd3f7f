/** What the page of a class says, in the languages of the page: it is not loaded by who is in no class. */
import { sayOf } from "../words.js";

/** English, German, Chinese; `{name}` stands for a value. @type {Record<string, [string, string, string]>} */
export const texts = {
  class: ["Class", "Klasse", "课堂"],
  class_of: ["Class: {count}", "Klasse: {count}", "课堂：{count} 人"],
  you_follow: ["You follow the class", "Sie folgen der Klasse", "正在跟随课堂"],
  picture_of: ["Picture of {name}", "Bild von {name}", "{name} 的图像"],
  leader_is_away: ["The leader is away", "Die Leitung ist gerade weg", "主持人暂时离开"],
  nothing_yet: [
    "The leader shows nothing yet",
    "Die Leitung zeigt noch nichts",
    "主持人尚未展示图像",
  ],
  move_it: [
    "Move the picture to explore on your own",
    "Bewegen Sie das Bild, um allein weiterzugehen",
    "移动图像即可独自探索",
  ],
  follow_again: ["Follow again", "Wieder folgen", "重新跟随"],
  explore_alone: ["Explore on your own", "Allein weitergehen", "独自探索"],
  your_name: ["Your name", "Ihr Name", "您的名字"],
  name_is_seen: [
    "The leader sees your name and, while you explore on your own, your picture.",
    "Die Leitung sieht Ihren Namen und Ihr Bild, solange Sie allein weitergehen.",
    "主持人能看到您的名字，以及您独自探索时的图像。",
  ],
  your_view_stays: [
    "Undo returns from the class to your own view.",
    "„Rückgängig“ führt von der Klasse zu Ihrer eigenen Ansicht.",
    "撤销可从课堂返回您自己的视图。",
  ],
  you_look_at: [
    "You look at the picture of {name}. Guests do not see this.",
    "Sie sehen das Bild von {name}. Die Gäste sehen es nicht.",
    "您正在查看 {name} 的图像，访客看不到。",
  ],
  show_to_everyone: ["Show to everyone", "Allen zeigen", "向所有人展示"],
  back_to_your_view: ["Back to your view", "Zurück zu Ihrer Ansicht", "返回您的视图"],
  lead_here: ["Lead from this page", "Von dieser Seite leiten", "从此页面主持"],
  other_page_leads: [
    "Another page leads the class.",
    "Eine andere Seite leitet die Klasse.",
    "另一个页面正在主持课堂。",
  ],
  come_in: [
    "Guests open this address and type the code, or point a phone's camera at the square.",
    "Gäste öffnen diese Adresse und tippen den Code, oder halten die Kamera eines Telefons auf das Quadrat.",
    "访客打开此地址并输入代码，或用手机摄像头扫描方块。",
  ],
  door: ["How guests come in", "So kommen Gäste herein", "访客如何进入"],
  address: ["Address", "Adresse", "地址"],
  code: ["Code", "Code", "代码"],
  code_picture: ["The address as a QR code", "Die Adresse als QR-Code", "地址的二维码"],
  let_in: ["Let more guests in", "Weitere Gäste einlassen", "允许更多访客进入"],
  new_code: ["New code", "Neuer Code", "新代码"],
  call_back: ["Have everyone follow", "Alle wieder folgen lassen", "让所有人跟随"],
  called_back: [
    "All guests follow you now.",
    "Alle Gäste folgen Ihnen jetzt.",
    "所有访客现在都在跟随您。",
  ],
  no_guests: ["No guest is here yet.", "Noch ist kein Gast da.", "还没有访客。"],
  explore: ["On their own", "Allein unterwegs", "独自探索"],
  follow: ["Follow you", "Folgen Ihnen", "正在跟随"],
  away: ["Away", "Nicht da", "已离开"],
  remove: ["Remove {name} from the class", "{name} aus der Klasse entfernen", "将 {name} 移出课堂"],
};

/** Return a line in the page's language. */
export const told = sayOf(texts);
