"""The 67 subjects of CMMLU (github.com/haonan-li/CMMLU), and their average."""

CMMLU_SUBJECTS = [
    'agronomy', 'anatomy', 'ancient_chinese', 'arts', 'astronomy', 'business_ethics',
    'chinese_civil_service_exam', 'chinese_driving_rule', 'chinese_food_culture', 'chinese_foreign_policy',
    'chinese_history', 'chinese_literature', 'chinese_teacher_qualification', 'clinical_knowledge',
    'college_actuarial_science', 'college_education', 'college_engineering_hydrology', 'college_law',
    'college_mathematics', 'college_medical_statistics', 'college_medicine', 'computer_science',
    'computer_security', 'conceptual_physics', 'construction_project_management', 'economics', 'education',
    'electrical_engineering', 'elementary_chinese', 'elementary_commonsense',
    'elementary_information_and_technology', 'elementary_mathematics', 'ethnology', 'food_science', 'genetics',
    'global_facts', 'high_school_biology', 'high_school_chemistry', 'high_school_geography',
    'high_school_mathematics', 'high_school_physics', 'high_school_politics', 'human_sexuality',
    'international_law', 'journalism', 'jurisprudence', 'legal_and_moral_basis', 'logical', 'machine_learning',
    'management', 'marketing', 'marxist_theory', 'modern_chinese', 'nutrition', 'philosophy',
    'professional_accounting', 'professional_law', 'professional_medicine', 'professional_psychology',
    'public_relations', 'security_study', 'sociology', 'sports_science', 'traditional_chinese_medicine',
    'virology', 'world_history', 'world_religions',
]

cmmlu_groups = [dict(name='cmmlu', subsets=[f'cmmlu-{subject}' for subject in CMMLU_SUBJECTS], weights='n')]
cmmlu_ppl_groups = [dict(name='cmmlu-ppl', subsets=[f'cmmlu-ppl-{subject}' for subject in CMMLU_SUBJECTS], weights='n')]
