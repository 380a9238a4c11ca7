pub struct Material; pub struct LawName;
